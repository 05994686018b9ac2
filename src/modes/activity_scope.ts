/** What the activity hook knows of processes; most events need none of it. */

import { ProcessChain } from "../activity/process_chain.ts";
import type { ProcessTools } from "../activity/record_event.ts";
import { runScope } from "../activity/run_scope.ts";
import type { Environment } from "../platform/environment.ts";

/** The tools, with one memory of the machine. */
export function processTools(environment: Environment): ProcessTools {
  const chain = new ProcessChain(environment);
  return { chain, runScope: () => runScope(environment, chain) };
}
