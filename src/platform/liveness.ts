/** Whether a pid answers signal 0 from this user. */

import type { Pid } from "./pid.ts";

/** Outcome of a signal-0 test. `foreign` exists but belongs to another user. */
export type Liveness = "alive" | "dead" | "foreign" | "unknown";

/**
 * Sends signal 0 to `pid`.
 *
 * A zombie answers `alive`. `unknown` is an answer that the operating system gave no reason for.
 * Needs global `--allow-run`: a list of programs is not enough for signals.
 */
export function liveness(pid: Pid): Liveness {
  try {
    Deno.kill(pid, 0);
    return "alive";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "dead";
    if (error instanceof Deno.errors.PermissionDenied) return "foreign";
    return "unknown";
  }
}
