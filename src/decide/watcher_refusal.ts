/** What a starting watcher makes of the lock that refused it. */

import type { Pid } from "../platform/pid.ts";

/** The refusal and what is known about the holder. */
export interface RefusalFact {
  /** The live pid that the lock records; `undefined` while somebody is just taking it. */
  readonly holder: Pid | undefined;
  /** Whole seconds since the last beat; `undefined` when there never was one. */
  readonly beatAgeSeconds: number | undefined;
  /** Whole seconds since the lock was made. */
  readonly lockAgeSeconds: number | undefined;
  /** Age from which a live holder counts as stale. */
  readonly staleGraceSeconds: number;
  /** Age of the last beat from which a stale holder may be asked to end. */
  readonly stallBoundSeconds: number;
}

/** What is said about it. */
export type Refusal =
  | { readonly kind: "already-running"; readonly pid: Pid | undefined }
  /** The holder lives but does not beat; `ageSeconds` is `undefined` when it never did. */
  | (StaleHolder & { readonly kind: "holder-stale" })
  /** As stale, and it was asked to end and is still there. */
  | (StaleHolder & { readonly kind: "holder-survived" });

/** A live holder that is behind with its beats. */
export interface StaleHolder {
  readonly pid: Pid;
  readonly ageSeconds: number | undefined;
  readonly graceSeconds: number;
}

/** A holder that is so far behind that it is to be re-verified, asked to end, and replaced. */
export interface StalledHolder extends StaleHolder {
  readonly kind: "holder-stalled";
  readonly ageSeconds: number;
}

/**
 * Judges a refusal by the holder's last beat, or by the age of its lock while it has never beaten.
 *
 * The holder's identity is not looked at: whoever lives at that pid is left alone. Without any beat
 * the stall bound never applies, since nothing shows that the holder ever was a watcher.
 */
export function judgeRefusal(fact: RefusalFact): Refusal | StalledHolder {
  const { holder: pid, beatAgeSeconds, lockAgeSeconds, staleGraceSeconds: graceSeconds } = fact;
  const age = beatAgeSeconds ?? lockAgeSeconds ?? 0;
  if (pid === undefined || age < graceSeconds) return { kind: "already-running", pid };
  if (beatAgeSeconds !== undefined && beatAgeSeconds >= fact.stallBoundSeconds) {
    return { kind: "holder-stalled", pid, ageSeconds: beatAgeSeconds, graceSeconds };
  }
  return { kind: "holder-stale", pid, ageSeconds: beatAgeSeconds, graceSeconds };
}
