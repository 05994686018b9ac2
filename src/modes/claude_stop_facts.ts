/** What `stop --claude` and its explanation start from: the facts of the stop, and whose it is. */

import type { ClaudeFacts } from "../decide/claude_turn_end.ts";
import type { PayloadFact } from "../decide/facts.ts";
import type { Ask } from "../decide/rule.ts";
import { observeClaudeTurnEnd } from "../observe/claude_turn_end.ts";
import type { Home } from "../observe/home.ts";
import { systemProcesses } from "../platform/processes.ts";
import type { StandardInput } from "../platform/stdin.ts";
import { type Call, hasFlag } from "./mode.ts";
import { steadyWatcher } from "./steady_watcher.ts";

/** The facts of one Claude stop. */
export function claudeStopFacts(call: Call, home: Home, input: StandardInput): Ask<ClaudeFacts> {
  const { environment } = call;
  return observeClaudeTurnEnd({
    input,
    home,
    environment,
    processes: systemProcesses(environment),
    anchor: undefined,
    acceptCursor: hasFlag(call, "cursor"),
    steady: steadyWatcher(call, home.state),
  });
}

/** The session that a stop is charged to. An absent id is one of its own; the empty one stays empty. */
export function chargedSession(payload: PayloadFact): string {
  return payload.kind === "object" ? payload.sessionId ?? "unknown" : "unknown";
}
