/** What a starting watcher makes of the lock that refused it. */

import type { Pid } from "../platform/pid.ts";
import type { NumberSetting } from "./number.ts";

/** The refusal and what is known about the holder. */
export interface RefusalFact {
  readonly holder: Pid | undefined;
  /** Whole seconds since the last beat; `undefined` when there never was one. */
  readonly beatAgeSeconds: number | undefined;
  /** Whole seconds since the lock was made. */
  readonly lockAgeSeconds: number | undefined;
  readonly staleGrace: NumberSetting;
  /** Seconds of age at which a stalled holder is taken over. */
  readonly stallBoundSeconds: number;
}

/** What to do about it. */
export type Refusal =
  | { readonly kind: "already-running"; readonly pid: Pid | undefined }
  | { readonly kind: "stale"; readonly pid: Pid; readonly ageSeconds: number }
  | { readonly kind: "never-beat"; readonly pid: Pid }
  /** Re-verify the holder, ask it to end, and take over. */
  | { readonly kind: "stalled"; readonly pid: Pid; readonly ageSeconds: number };

/**
 * Judges a refusal. The plain refusals do not look at the holder's identity: whoever lives at that pid
 * is left alone. Without any beat the stall bound never applies, since nothing proves that the
 * holder ever was a watcher.
 */
export function judgeRefusal(fact: RefusalFact): Refusal {
  const { holder, beatAgeSeconds, lockAgeSeconds, staleGrace, stallBoundSeconds } = fact;
  if (holder === undefined) return { kind: "already-running", pid: undefined };
  const grace = staleGrace.value;
  if (beatAgeSeconds === undefined) {
    return (lockAgeSeconds ?? 0) < grace
      ? { kind: "already-running", pid: holder }
      : { kind: "never-beat", pid: holder };
  }
  if (beatAgeSeconds < grace) return { kind: "already-running", pid: holder };
  return {
    kind: beatAgeSeconds >= stallBoundSeconds ? "stalled" : "stale",
    pid: holder,
    ageSeconds: beatAgeSeconds,
  };
}
