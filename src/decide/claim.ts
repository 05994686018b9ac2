/** Whether an auto-arm's claim still stands: somebody is bringing supervision up right now. */

import type { BeaconFact } from "./facts.ts";
import type { Liveness } from "../platform/liveness.ts";
import type { IdentityReading } from "../platform/process_identity.ts";
import type { LedgerEntry, LedgerGlance } from "../state/claude_ledger.ts";

/** The ledger and everything that its entry is compared with. */
export interface ClaimFact {
  /** The entry as claims read it; `undefined` for "no entry". */
  readonly entry: LedgerEntry | undefined;
  /** Line 1 as accounting reads it. */
  readonly glance: LedgerGlance;
  /** Age of the ledger in whole seconds; `undefined` without one. */
  readonly ageSeconds: number | undefined;
  /** The claim's owner now; `undefined` when the entry names no process. */
  readonly owner: { readonly liveness: Liveness; readonly identity: IdentityReading } | undefined;
  /** Whether the owner is the session-lock holder or one of its descendants. */
  readonly descendsFromHolder: boolean;
  /**
   * The session-lock holder now; `undefined` when the lock names no process, or when nothing depends
   * on it because the owner descends from it.
   */
  readonly holder: { readonly identity: IdentityReading } | undefined;
  /** `.lock-session`; `undefined` without one. */
  readonly recordedSessionId: string | undefined;
  readonly beacon: BeaconFact;
}

/** Whether a claim is open, with the first reason why it is not. */
export type ClaimState =
  | { readonly kind: "open"; readonly saw: string }
  | { readonly kind: "closed"; readonly because: ClosedClaim; readonly saw: string };

/** Why no claim is open. */
export type ClosedClaim =
  | "no-entry"
  | "finished"
  | "owner-dead"
  | "owner-identity"
  | "unreachable"
  | "stuck";

/**
 * A claim is open while its owner is the very process that made it, its session can still be woken
 * by it, and something of it has moved within the grace.
 *
 * An owner that outlived its session wakes nobody; a claim whose ledger and beacon both stood still
 * is a hook that hangs. Both would otherwise let turns end blind for hours.
 */
export function judgeClaim(fact: ClaimFact, graceSeconds: number): ClaimState {
  const { entry, owner } = fact;
  if (entry === undefined) return closed("no-entry", "no ledger entry");
  if (entry.outcome !== "arming") {
    return closed("finished", `epoch ${entry.epoch}: ${entry.outcome}`);
  }
  const claim = `epoch ${entry.epoch}, owner pid ${entry.ownerPid}`;
  if (owner?.liveness !== "alive") return closed("owner-dead", `${claim}: not alive`);
  if (!isSame(owner.identity, entry.ownerIdentity)) {
    return closed("owner-identity", `${claim}: not the process that claimed`);
  }
  if (!fact.descendsFromHolder && !sameConversation(fact, entry)) {
    return closed("unreachable", `${claim}: its session cannot be woken by it`);
  }
  if (stoodStill(fact, graceSeconds)) {
    return closed("stuck", `${claim}: neither ledger nor beacon moved`);
  }
  return { kind: "open", saw: claim };
}

/** A resumed conversation has another process; only the same holder of the same conversation counts. */
function sameConversation(fact: ClaimFact, entry: LedgerEntry): boolean {
  const { ownerSessionId } = entry;
  return fact.holder !== undefined && ownerSessionId !== undefined &&
    ownerSessionId === fact.recordedSessionId && isSame(fact.holder.identity, entry.holderIdentity);
}

function isSame(now: IdentityReading, recorded: string): boolean {
  return recorded !== "" && now.kind === "known" && now.identity === recorded;
}

/** Both must be old: a cycle of hours leaves the ledger old, but its watcher beats. */
function stoodStill(fact: ClaimFact, graceSeconds: number): boolean {
  const beaconAge = fact.beacon.kind === "beat" ? fact.beacon.ageSeconds : Infinity;
  return (fact.ageSeconds ?? Infinity) >= graceSeconds && beaconAge >= graceSeconds;
}

function closed(because: ClosedClaim, saw: string): ClaimState {
  return { kind: "closed", because, saw };
}
