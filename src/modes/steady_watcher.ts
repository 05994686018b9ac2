/** A watcher as it is judged: one that is late through the machine's clocks gets its poll of grace. */

import type { WatcherFact } from "../decide/facts.ts";
import { judgeWatcher } from "../decide/watcher_health.ts";
import type { Call } from "./mode.ts";

/** Looks once more at a watcher of the home with the state directory `state`. */
export function steadyWatcher(
  { deadline }: Pick<Call, "deadline">,
  state: string,
): (fact: WatcherFact) => Promise<WatcherFact> {
  return async (fact) => {
    const health = judgeWatcher(fact);
    const late = health.kind === "down" &&
      (health.because === "beacon-stale" || health.because === "clock-skew");
    if (!late) return fact;
    const { withBeatGrace } = await import("./late_beat.ts");
    return await withBeatGrace(fact, {
      state,
      willWait: (limitMs) => deadline.extend(limitMs),
    });
  };
}
