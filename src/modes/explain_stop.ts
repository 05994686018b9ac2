/** The explanation of `stop` and `stop --cursor`. */

import { describeMalformed, malformedSettings } from "../decide/settings.ts";
import type { Home } from "../observe/home.ts";
import { graceVariables } from "../observe/turn_end.ts";
import type { StandardInput } from "../platform/stdin.ts";
import type { Explanation } from "./explanation.ts";
import { type Call, EXIT } from "./mode.ts";
import { blockedHarness, turnEndBanner } from "./stop_banner.ts";
import { judgeTurnEnd } from "./stop_verdict.ts";

/** Judges the turn end as `stop` would, and says what it would print. */
export async function explainStop(
  call: Call,
  home: Home,
  input: StandardInput,
): Promise<Omit<Explanation, "payload">> {
  const judged = await judgeTurnEnd(call, home, input);
  const { environment } = call;
  const { kind, code, steps } = judged.verdict;
  const blocked = kind === "block";
  const told = blocked
    ? await turnEndBanner({
      ...judged,
      environment,
      harness: await blockedHarness(judged, environment),
      cooperation: undefined,
    })
    : undefined;
  return {
    mode: judged.mode === "cursor" ? "stop --cursor" : "stop",
    verdict: kind,
    code,
    exit: blocked ? EXIT.block : EXIT.ok,
    meaning: turnMeaning(blocked),
    home,
    steps,
    details: {},
    notices: malformedSettings(graceVariables(environment)).map(describeMalformed),
    told,
  };
}

/** What a verdict on a turn means. */
export function turnMeaning(blocked: boolean): string {
  return blocked ? "this turn must not end" : "this turn may end";
}
