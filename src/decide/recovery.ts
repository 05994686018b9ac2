/** What a guard that waits for the auto-arm makes of what it sees. */

import type { ClaimState } from "./claim.ts";

/** What one look of the waiting guard sees. */
export interface RecoveryFact {
  readonly watcherHealthy: boolean;
  readonly claim: ClaimState;
  /** Whether a build without generations holds its lock for a whole cycle. */
  readonly legacyClaim: boolean;
  /** Outcome by the guard's own reader; empty without one. */
  readonly outcome: string;
  /** Whether the ledger is younger than the time an outcome stays meaningful. */
  readonly fresh: boolean;
  readonly noticed: boolean;
}

/** What follows from one look. */
export type Recovery =
  /** Supervision is proven. */
  | { readonly kind: "supervised" }
  /** Somebody else continues this stop; with a notice the epoch is observed for the budget. */
  | { readonly kind: "owned"; readonly because: RecoveryOwner; readonly observe: boolean }
  /** A failure that counts as the continuation only if it opens this session's count. */
  | { readonly kind: "first-failure" }
  /** A failure that is observed and never lets a turn end. */
  | { readonly kind: "later-failure" }
  /** Nothing is under way. */
  | { readonly kind: "nobody" };

/** Who continues a stop. */
export type RecoveryOwner = "open-claim" | "legacy-claim" | "fresh-rewake";

/**
 * Reads one look.
 *
 * A rewake, a claim and the first failure notice are each a continuation of their own; blocking on
 * top of one would give the session two turns for one event.
 */
export function judgeRecovery(fact: RecoveryFact): Recovery {
  if (fact.watcherHealthy) return { kind: "supervised" };
  if (fact.claim.kind === "open") return owned("open-claim", fact);
  if (fact.legacyClaim) return owned("legacy-claim", fact);
  if (!fact.fresh) return { kind: "nobody" };
  if (fact.outcome === "rewake") return owned("fresh-rewake", fact);
  if (!fact.noticed) return { kind: "nobody" };
  if (fact.outcome === "failed") return { kind: "first-failure" };
  return { kind: fact.outcome === "failed-suppressed" ? "later-failure" : "nobody" };
}

function owned(because: RecoveryOwner, fact: RecoveryFact): Recovery {
  return { kind: "owned", because, observe: fact.noticed };
}
