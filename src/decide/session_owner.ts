/** Whose session lock it is: ours, another live session's, or nobody's that can be told. */

import type { Pid } from "../platform/pid.ts";

/** The session lock, and what this session can prove about itself. */
export interface SessionFact {
  /** What stands at `.lock`. */
  readonly lockKind: "absent" | "file" | "link" | "other";
  /** The pid that the lock's whole content names, digits only; `undefined` otherwise. */
  readonly holder: Pid | undefined;
  /** Whether the holder is alive and is a harness. */
  readonly holderIsHarness: boolean;
  /** Contiguous run of harness ancestors, innermost first; empty when it cannot be told. */
  readonly ancestry: readonly Pid[];
  /** This conversation's id, where it can be trusted. */
  readonly trustedSessionId: string | undefined;
  /** The id that `.lock-session` records. */
  readonly recordedSessionId: string | undefined;
  /**
   * Whether the home was made by `turnguard init` and brings no session start of its own: there, a
   * lock that is absent is waiting for the first session that comes.
   */
  readonly takesAbsentLock?: boolean;
}

/** Whose lock it is. */
export type SessionOwner =
  | { readonly kind: "ours"; readonly saw: string }
  /** Another live session: this one must not arm, and must not be blocked for it. */
  | { readonly kind: "foreign"; readonly pid: Pid; readonly saw: string }
  /** A pid that is no live harness any more; the lock may be taken over. */
  | { readonly kind: "stale"; readonly pid: Pid; readonly saw: string }
  /** Nobody has taken the lock of a home in which the first session may. */
  | { readonly kind: "free"; readonly saw: string }
  /** No usable lock, or nothing is known about our own ancestry. */
  | { readonly kind: "undetermined"; readonly saw: string };

/**
 * Tells whose session lock it is. Every uncertainty is `undetermined`: a release of the turn and a
 * take-over both need proof.
 */
export function judgeSessionOwner(fact: SessionFact): SessionOwner {
  const { holder, ancestry } = fact;
  if (fact.lockKind === "absent" && fact.takesAbsentLock === true && ancestry.length > 0) {
    return { kind: "free", saw: "nobody holds the session lock of this home yet" };
  }
  if (holder === undefined) {
    return undetermined(`the session lock names no process (${fact.lockKind})`);
  }
  const same = isSameConversation(fact);
  if (ancestry.length > 0 && (ancestry.includes(holder) || (same && fact.holderIsHarness))) {
    return { kind: "ours", saw: `the session lock is ours (pid ${holder})` };
  }
  if (!fact.holderIsHarness) {
    return { kind: "stale", pid: holder, saw: `lock pid ${holder} is no live harness` };
  }
  if (ancestry.length === 0) return undetermined("this session's own harness cannot be told");
  if (fact.lockKind !== "file") return undetermined("the session lock is a link");
  return {
    kind: "foreign",
    pid: holder,
    saw: `another live session holds the lock (pid ${holder})`,
  };
}

/** An id that is missing on either side is no match. */
function isSameConversation({ trustedSessionId, recordedSessionId }: SessionFact): boolean {
  return trustedSessionId !== undefined && trustedSessionId === recordedSessionId;
}

function undetermined(saw: string): SessionOwner {
  return { kind: "undetermined", saw };
}
