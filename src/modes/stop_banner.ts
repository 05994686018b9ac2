/** The banner of a blocked turn end, from the facts that blocked it. */

import { describeBeacon } from "../decide/freshness.ts";
import { judgeNeed } from "../decide/need.ts";
import { numberSetting } from "../decide/number.ts";
import { blockBanner } from "../harness/banner.ts";
import { detectHarness } from "../harness/detect.ts";
import type { HarnessName } from "../harness/names.ts";
import { repairLine } from "../harness/repair_line.ts";
import { describeMalformed, malformedSettings } from "../decide/settings.ts";
import { graceVariables } from "../observe/turn_end.ts";
import type { Environment } from "../platform/environment.ts";
import { targetKind } from "../platform/path_kind.ts";
import { parentPid } from "../platform/processes.ts";
import type { JudgedTurnEnd } from "./stop_verdict.ts";

/** Seconds of a Codex checkpoint when nothing is set. */
const DEFAULT_CHECKPOINT_SECONDS = 180;

/** A banner, and the harness whose repair it names. */
export interface TurnEndBanner {
  readonly text: string;
  readonly harness: HarnessName;
}

/** Builds the banner of a turn end that was judged `block`. */
export async function turnEndBanner(
  judged: JudgedTurnEnd,
  environment: Environment,
): Promise<TurnEndBanner> {
  const { facts, home, mode, processes } = judged;
  const need = judgeNeed(await facts("need"));
  const harness = mode === "cursor" ? "cursor" : judged.anchor?.harness ??
    await detectHarness(environment, {
      nearest: parentPid(),
      info: (pid) => processes.info(pid),
    });
  const settings = `${home.config}/x-mode.env`;
  const text = blockBanner({
    need: need.kind === "needed" ? need.what : "background work",
    beat: describeBeacon((await facts("watcher")).beacon),
    cooperation: undefined,
    notices: malformedSettings(graceVariables(environment)).map(describeMalformed),
    repair: repairLine({
      harness,
      mode: (await facts("daemon")).mode,
      relaySettings: targetKind(settings) === "file" ? settings : undefined,
      checkpointSeconds: numberSetting(
        environment.get("FM_CODEX_WATCH_CHECKPOINT"),
        "positive-digits",
        DEFAULT_CHECKPOINT_SECONDS,
      ).value,
    }),
  });
  return { text, harness };
}
