/** The variables by which harnesses mark the programs that they start. */

import type { Environment } from "../platform/environment.ts";
import type { HarnessName } from "./names.ts";

/** The harness by environment markers, or `undefined` when only ancestry can tell. */
export function harnessByEnvironment(environment: Environment): HarnessName | undefined {
  const is = (name: string, value: string) => environment.get(name) === value;
  if (is("CURSOR_AGENT", "1") || is("CURSOR_INVOKED_AS", "cursor-agent")) return "cursor";
  if (is("GEMINI_CLI", "1")) return "gemini";
  if (is("ATLASSIAN_AGENT_TYPE", "rovo") || is("ROVODEV_CLI", "1")) return "rovo";
  // Two markers need an ancestor to be believed, because a child of the other kind inherits them.
  if (is("FM_OMP_HARNESS", "omp")) return undefined;
  if (is("CLAUDECODE", "1")) return is("PI_CODING_AGENT", "true") ? undefined : "claude";
  if (is("PI_CODING_AGENT", "true")) return piName(environment);
  if (is("GROK_AGENT", "1")) return "grok";
  return undefined;
}

/** Which of the two Pi builds an environment names. */
export function piName(environment: Environment): HarnessName {
  return environment.get("FM_PI_HARNESS") === "pi-signed" ? "pi-signed" : "pi";
}
