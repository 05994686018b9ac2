/** Whether a custom check may run: its file, its trust record, and the hash that binds them. */

import type { CheckFacts, FileFact } from "../state/check_trust.ts";

/** What may be done with a check. */
export type CheckTrust =
  | { readonly kind: "trusted"; readonly hash: string }
  /** Registered, but its bytes are no longer those that were registered. */
  | { readonly kind: "changed" }
  | { readonly kind: "rejected"; readonly because: string };

const CHECK_PERMISSIONS = 0o700;
const TRUST_PERMISSIONS = 0o600;

/** Judges a check. Nothing that is not exactly as it was registered is trusted. */
export function judgeCheck(facts: CheckFacts): CheckTrust {
  const { trust, stateDevice, recordedHash, scriptHash } = facts;
  const check = whyNoCheck(facts.check, stateDevice);
  if (check !== undefined) return rejected(`the check ${check}`);
  if (trust.kind === "absent") return rejected("it is not registered");
  const record = whyNoTrustRecord(trust, stateDevice);
  if (record !== undefined) return rejected(`its trust record ${record}`);
  if (recordedHash === undefined) return rejected("its trust record is not of the known form");
  if (scriptHash === undefined) return rejected("the check cannot be read");
  return scriptHash === recordedHash
    ? { kind: "trusted", hash: recordedHash }
    : { kind: "changed" };
}

function rejected(because: string): CheckTrust {
  return { kind: "rejected", because };
}

/** Why a file cannot be a check, as the end of a sentence; `undefined` when it can. */
export function whyNoCheck(file: FileFact, stateDevice: number): string | undefined {
  return whyNotPlain(file, stateDevice) ?? whyNotMode(file, CHECK_PERMISSIONS);
}

/** Why a file cannot hold trust, as the end of a sentence; `undefined` when it can. */
export function whyNoTrustRecord(file: FileFact, stateDevice: number): string | undefined {
  return whyNotPlain(file, stateDevice) ?? whyNotMode(file, TRUST_PERMISSIONS);
}

/**
 * Why a file is not one that this home alone names: a link, a second name or another device would
 * let somebody change it from elsewhere.
 */
export function whyNotPlain(file: FileFact, stateDevice: number): string | undefined {
  switch (file.kind) {
    case "absent":
      return "is missing";
    case "link":
      return "is a symbolic link";
    case "directory":
    case "other":
      return "is not a regular file";
    case "unknown":
      return "cannot be looked at";
    case "file":
      if (file.device !== stateDevice) return "is on another device than the state directory";
      return file.links === 1 ? undefined : `has ${file.links} hard links`;
  }
}

function whyNotMode(file: FileFact, wanted: number): string | undefined {
  return file.permissions === wanted
    ? undefined
    : `has mode ${file.permissions.toString(8)} instead of ${wanted.toString(8)}`;
}
