/** The run that a hook belongs to, proven by the processes above it. */

import type { HarnessProcess } from "../decide/activity/activity_state.ts";
import type { Environment } from "../platform/environment.ts";
import { parsePid } from "../platform/pid.ts";
import { isTrampoline, type ProcessChain } from "./process_chain.ts";

/** A run, and the harness process through which the hook belongs to it. */
export interface RunScope {
  readonly file: string;
  readonly runId: string;
  readonly harness: HarnessProcess | undefined;
}

/** The variables by which a runner tells its command where to write. */
export const RUN_VARIABLES = [
  "TURNGUARD_ACTIVITY_FILE",
  "TURNGUARD_RUN_ID",
  "TURNGUARD_WATCHDOG_PID",
  "TURNGUARD_WATCHDOG_IDENTITY",
] as const;

/**
 * The run whose variables the environment holds, if its runner stands above this process.
 *
 * Variables leak: the server of a terminal multiplexer that was first started inside a run hands them
 * to sessions that have nothing to do with it.
 */
export async function runScope(
  environment: Environment,
  chain: ProcessChain,
): Promise<RunScope | undefined> {
  const [file, runId, pid, identity] = RUN_VARIABLES.map((name) => environment.get(name));
  if (file?.startsWith("/") !== true || runId === undefined || identity === undefined) {
    return undefined;
  }
  const runner = parsePid(pid ?? "");
  let harness: HarnessProcess | undefined;
  for await (const link of chain.upwards(parsePid(String(Deno.ppid)))) {
    if (link.pid === runner) {
      return link.identity === identity ? { file, runId, harness } : undefined;
    }
    if (harness === undefined && !isTrampoline(link)) harness = chain.recorded(link);
  }
  return undefined;
}
