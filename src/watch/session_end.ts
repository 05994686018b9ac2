/**
 * The end of the session that a hook belongs to.
 *
 * A harness that ends does not tell the hooks that it left running in the background: they would go on
 * for hours, and look like supervision that can no longer wake anybody.
 */

import { liveness } from "../platform/liveness.ts";
import type { Pid } from "../platform/pid.ts";

/** Milliseconds between looks. */
const STEP_MS = 1_000;

/**
 * Resolves when this process has lost its parent and the process `session` has ended as well. Either
 * alone proves nothing: hosts may start a hook through a shell that ends, and locks may name a session
 * that this process does not descend from.
 */
export async function sessionEnd(session: Pid | undefined): Promise<void> {
  const parent = Deno.ppid;
  while (Deno.ppid === parent || (session !== undefined && liveness(session) !== "dead")) {
    await new Promise<void>((resolve) => {
      // What ends first otherwise must not wait for this.
      Deno.unrefTimer(setTimeout(resolve, STEP_MS));
    });
  }
}
