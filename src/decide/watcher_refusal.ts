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
}

/** What is said about it. */
export type Refusal =
  | { readonly kind: "already-running"; readonly pid: Pid | undefined }
  /** The holder lives but does not beat; `ageSeconds` is `undefined` when it never did. */
  | {
    readonly kind: "holder-stale";
    readonly pid: Pid;
    readonly ageSeconds: number | undefined;
    readonly graceSeconds: number;
  };

/**
 * Judges a refusal by the holder's last beat, or by the age of its lock while it has never beaten.
 *
 * The holder's identity is not looked at: whoever lives at that pid is left alone.
 */
export function judgeRefusal(fact: RefusalFact): Refusal {
  const { holder: pid, beatAgeSeconds, lockAgeSeconds, staleGraceSeconds } = fact;
  const age = beatAgeSeconds ?? lockAgeSeconds ?? 0;
  if (pid === undefined || age < staleGraceSeconds) return { kind: "already-running", pid };
  return {
    kind: "holder-stale",
    pid,
    ageSeconds: beatAgeSeconds,
    graceSeconds: staleGraceSeconds,
  };
}
