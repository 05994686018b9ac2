/** Registering a custom check: binding the bytes that are there to the right to be run. */

import { judgeCheck, whyNoCheck, whyNotPlain } from "../../decide/check_trust.ts";
import { errorMessage } from "../../platform/file_text.ts";
import { ownKind } from "../../platform/path_kind.ts";
import {
  type CheckId,
  checkPath,
  copiedHash,
  createCheck,
  deviceOf,
  fileFact,
  forgetCopied,
  noteCopied,
  readCheck,
  sha256Hex,
  trustPath,
  writeTrustRecord,
} from "../../state/check_trust.ts";
import { removeQuietly } from "../../state/replace_file.ts";

/** Outcome of a registration; `what` names the part that stood in the way. */
export type Registration =
  | { readonly kind: "registered"; readonly hash: string }
  | {
    readonly kind: "refused";
    readonly what: "state" | "check" | "trust" | "hash" | "record";
    readonly because: string;
  };

/**
 * Binds the check of `id` as it is now. Registering again after an edit binds the new bytes.
 *
 * Both files are read again afterwards; if they disagree by then, somebody is changing them, and no
 * trust is left behind.
 */
export async function registerCheck(state: string, id: CheckId): Promise<Registration> {
  const stateKind = ownKind(state);
  if (stateKind !== "directory") {
    return refused("state", stateKind === "link" ? "is a symbolic link" : "is not a directory");
  }
  const device = deviceOf(state);
  const check = whyNoCheck(fileFact(checkPath(state, id)), device);
  if (check !== undefined) return refused("check", check);
  const trust = fileFact(trustPath(state, id));
  const trustFault = trust.kind === "absent" ? undefined : whyNotPlain(trust, device);
  if (trustFault !== undefined) return refused("trust", trustFault);
  const { scriptHash } = await readCheck(state, id);
  if (scriptHash === undefined) return refused("hash", "the check cannot be read");
  try {
    writeTrustRecord(state, id, scriptHash);
  } catch (error) {
    return refused("record", errorMessage(error));
  }
  const verdict = judgeCheck(await readCheck(state, id));
  if (verdict.kind === "trusted" && verdict.hash === scriptHash) {
    return { kind: "registered", hash: scriptHash };
  }
  removeQuietly(trustPath(state, id));
  return refused(
    "record",
    verdict.kind === "rejected" ? verdict.because : "the check changed meanwhile",
  );
}

function refused(
  what: Extract<Registration, { kind: "refused" }>["what"],
  because: string,
): Registration {
  return { kind: "refused", what, because };
}

/** Outcome of copying a script in and registering it. */
export type CopiedRegistration = Registration | { readonly kind: "exists" };

/** Copies a script in as the check of `id` and registers it; a refusal takes the copy away again. */
export async function copyInCheck(
  state: string,
  id: CheckId,
  script: Uint8Array<ArrayBuffer>,
): Promise<CopiedRegistration> {
  if (ownKind(state) !== "directory") return refused("state", "is not a directory");
  try {
    if (createCheck(state, id, script) === "exists") return { kind: "exists" };
    noteCopied(state, id, await sha256Hex(script));
  } catch (error) {
    return refused("check", `cannot be written: ${errorMessage(error)}`);
  }
  const outcome = await registerCheck(state, id);
  if (outcome.kind === "refused") {
    removeQuietly(checkPath(state, id));
    forgetCopied(state, id);
  }
  return outcome;
}

/** Outcome of taking a check's trust away. */
export type Unregistration =
  | { readonly kind: "nothing-there" }
  | {
    readonly kind: "removed";
    /**
     * `removed` was a copy made here; `edited` is such a copy that was changed since; `kept` is not
     * ours; `absent` was gone before.
     */
    readonly script: "removed" | "edited" | "kept" | "absent";
  };

/**
 * Takes away the trust of the check of `id`, and its script when that is the copy that was made here.
 *
 * The script goes first: a script without trust is reported at every sweep, a record without a script
 * is harmless. Throws what the operating system reports.
 */
export async function unregisterCheck(state: string, id: CheckId): Promise<Unregistration> {
  const facts = await readCheck(state, id);
  const copied = copiedHash(state, id);
  if (facts.trust.kind === "absent" && copied === undefined) return { kind: "nothing-there" };
  const script = scriptFate(facts.check.kind === "absent", facts.scriptHash, copied);
  if (script === "removed") Deno.removeSync(checkPath(state, id));
  if (facts.trust.kind !== "absent") Deno.removeSync(trustPath(state, id));
  forgetCopied(state, id);
  return { kind: "removed", script };
}

function scriptFate(
  absent: boolean,
  actual: string | undefined,
  copied: string | undefined,
): Extract<Unregistration, { kind: "removed" }>["script"] {
  if (absent) return "absent";
  if (copied === undefined) return "kept";
  return actual === copied ? "removed" : "edited";
}
