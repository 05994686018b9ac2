/** The auto-arm's claim on a home: taken, checked before every side effect, and ended by its owner. */

import { judgeClaim } from "../decide/claim.ts";
import { ledgerText, observeClaim, observeLedgerEntry } from "../observe/claim.ts";
import { sessionLockHolder, sessionLockLine } from "../observe/session.ts";
import { nowSeconds } from "../platform/clock.ts";
import { liveness } from "../platform/liveness.ts";
import type { ProcessIdentity } from "../platform/process_identity.ts";
import { ownPid } from "../platform/processes.ts";
import {
  formatClaim,
  formatCommit,
  isLedgerWord,
  ledgerEpoch,
  type TerminalOutcome,
  writeLedger,
} from "../state/claude_ledger.ts";
import { createNotice } from "../state/failure_episode.ts";
import { type HeldLock, lockWithin, tryLock } from "../state/lock.ts";
import { readRecoveryMarker, recoveryLockPath } from "../state/recovery_marker.ts";
import { endEpisode } from "./episode.ts";
import { type LookAgain, ownerLockPath } from "./legacy_claim.ts";

/** A claim that this process holds, or why it has none. */
export type ClaimAttempt =
  | { readonly kind: "claimed"; readonly claim: OwnClaim }
  /** An open claim of somebody else stands. */
  | { readonly kind: "lost" }
  | { readonly kind: "failed" };

/** What a claim is made with. */
export interface ClaimRequest {
  readonly state: string;
  readonly graceSeconds: number;
  readonly look: LookAgain;
  /** This conversation's id, where it can be trusted. */
  readonly trustedSessionId: string | undefined;
}

/**
 * Takes the next generation, unless a claim is open.
 *
 * Without an identity of our own there is no claim: nobody could tell later whether it still stands.
 * Taking the next generation is all that a reclaim is; the previous owner is not signalled.
 */
export async function claimNext(request: ClaimRequest): Promise<ClaimAttempt> {
  const { state, graceSeconds, look } = request;
  const own = await look().identity(ownPid());
  if (own.kind === "unknown") return { kind: "failed" };
  const session = await claimedSession(request);
  try {
    const attempt = tryLock(ownerLockPath(state));
    if (attempt.kind === "refused") return { kind: "failed" };
    using _mutex = attempt.lock;
    const standing = judgeClaim(await observeClaim(state, look()), graceSeconds);
    if (standing.kind === "open") return { kind: "lost" };
    const epoch = ledgerEpoch(ledgerText(state)) + 1;
    writeLedger(
      state,
      formatClaim({
        epoch,
        ownerPid: Deno.pid,
        ownerIdentity: own.identity,
        updatedAt: nowSeconds(),
        session,
      }),
    );
    return { kind: "claimed", claim: new OwnClaim(state, epoch) };
  } catch {
    return { kind: "failed" };
  }
}

/** Both session fields, or neither: an id that cannot be tied to a lock holder proves nothing. */
async function claimedSession(
  { state, look, trustedSessionId: id }: ClaimRequest,
): Promise<{ id: string; holderIdentity: ProcessIdentity } | undefined> {
  const holder = sessionLockHolder(state);
  if (id === undefined || !isLedgerWord(id) || holder === undefined) return undefined;
  if (liveness(holder) !== "alive") return undefined;
  const identity = await look().identity(holder);
  return identity.kind === "known" ? { id, holderIdentity: identity.identity } : undefined;
}

/** Whether an outcome was recorded. Only `committed` may ever lead to exit status 2. */
export type CommitOutcome = "committed" | "refused" | "unable";

/** What may go with an outcome. */
export interface CommitOptions {
  /** Create the failure notice in the same section; without it the outcome is `refused`. */
  readonly notice?: boolean;
  readonly handover?: { readonly sessionPid: string; readonly recoveryGeneration: string };
}

/** Tries at the owner lock that an owner makes to record its outcome, and milliseconds between. */
const COMMIT_TRIES = 21;
const COMMIT_STEP_MS = 20;

/** Milliseconds after which a rewake gives up on the recovery marker's lock. */
const MARKER_LIMIT_MS = 10_000;

/** A generation that this process has claimed. */
export class OwnClaim {
  readonly #state: string;
  readonly epoch: number;

  /** Made by {@link claimNext} only. */
  constructor(state: string, epoch: number) {
    this.#state = state;
    this.epoch = epoch;
  }

  /** Whether the ledger still names this generation and this process. Takes no lock. */
  isStillOurs(): boolean {
    const entry = observeLedgerEntry(this.#state);
    return entry !== undefined && entry.epoch === String(this.epoch) &&
      entry.ownerPid === String(Deno.pid);
  }

  /**
   * Records how this claim ended.
   *
   * The notice comes after the ledger: the other order could suppress a notice whose ledger entry
   * never won.
   */
  async commit(outcome: TerminalOutcome, options: CommitOptions = {}): Promise<CommitOutcome> {
    try {
      const attempt = await lockWithin(
        ownerLockPath(this.#state),
        (COMMIT_TRIES - 1) * COMMIT_STEP_MS,
        { stepMs: COMMIT_STEP_MS },
      );
      if (attempt.kind === "refused") return "unable";
      using _mutex = attempt.lock;
      return this.#commitHeld(outcome, options);
    } catch {
      return "unable";
    }
  }

  #commitHeld(outcome: TerminalOutcome, options: CommitOptions): CommitOutcome {
    const entry = observeLedgerEntry(this.#state);
    if (entry === undefined || !this.isStillOurs()) return "refused";
    writeLedger(
      this.#state,
      formatCommit({ entry, outcome, updatedAt: nowSeconds(), handover: options.handover }),
    );
    if (options.notice === true && !createNotice(this.#state)) return "refused";
    return "committed";
  }

  /**
   * Hands a wake over to the session: the outcome is bound to the session-lock pid and to the open
   * stretch of downtime. Without such a stretch, or without `ownsSession`, nothing is recorded.
   */
  async commitRewake(ownsSession: () => Promise<boolean>): Promise<CommitOutcome> {
    if (!await ownsSession()) return "refused";
    const sessionPid = sessionLockLine(this.#state);
    const recoveryGeneration = await openDowntime(this.#state);
    if (recoveryGeneration === undefined) return "refused";
    return await this.commit("rewake", { handover: { sessionPid, recoveryGeneration } });
  }

  /** Ends the failure episode if this claim is still ours. Owner lock first, budget lock second. */
  endEpisode(): "ended" | "superseded" | "failed" {
    let mutex: HeldLock | undefined;
    try {
      const attempt = tryLock(ownerLockPath(this.#state));
      if (attempt.kind === "refused") return "superseded";
      mutex = attempt.lock;
      if (!this.isStillOurs()) return "superseded";
      return endEpisode(this.#state) ? "ended" : "failed";
    } catch {
      return "failed";
    } finally {
      mutex?.release();
    }
  }
}

/** The generation of a stretch of downtime that nobody handles yet, read under its own lock. */
async function openDowntime(state: string): Promise<string | undefined> {
  try {
    const attempt = await lockWithin(recoveryLockPath(state), MARKER_LIMIT_MS);
    if (attempt.kind === "refused") return undefined;
    using _held = attempt.lock;
    const found = readRecoveryMarker(state);
    if (found.kind !== "valid" || found.marker.kind !== "downtime") return undefined;
    return found.marker.status === "acked" ? undefined : found.marker.generation;
  } catch {
    return undefined;
  }
}
