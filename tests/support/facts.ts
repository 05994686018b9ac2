/**
 * Checked values and common facts, for tables that play the rules without a system.
 *
 * @module
 */

import type { PayloadFact, ScopeFact } from "../../src/decide/facts.ts";
import { observePayload } from "../../src/observe/payload.ts";
import { parsePid, type Pid } from "../../src/platform/pid.ts";
import { type ProcessIdentity, psIdentity } from "../../src/platform/process_identity.ts";

/** A number as a checked pid. */
export function pidOf(value: number): Pid {
  const pid = parsePid(String(value));
  if (pid === undefined) throw new Error(`no pid: ${value}`);
  return pid;
}

/** A text as what a process is recognised by. */
export function identityNamed(text: string): ProcessIdentity {
  const identity = psIdentity(text);
  if (identity === undefined) throw new Error(`no identity: ${text}`);
  return identity;
}

/** What is made of a payload. */
export function payloadOf(text: string): PayloadFact {
  return observePayload({ kind: "bytes", bytes: new TextEncoder().encode(text) });
}

/** The root of an ordinary checkout that is a home. */
export const PRIMARY_HOME: ScopeFact = {
  marker: { kind: "absent" },
  git: "primary",
  agentsFile: "file",
  bin: "directory",
  state: "directory",
};
