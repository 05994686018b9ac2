/** How a blocked turn end is charged, and when the budget ends in an alarm instead of a block. */

import type { BlockBudget, Charge } from "../state/claude_budget.ts";
import type { LedgerGlance } from "../state/claude_ledger.ts";

/** What an accounting is for. `observe` sees an epoch; `block` is a turn end that will be blocked. */
export type AccountingMode = "observe" | "block";

/** What an accounting starts from. */
export interface Accounting {
  readonly mode: AccountingMode;
  readonly sessionId: string;
  /** The budget on disk; `undefined` when there is none. */
  readonly stored: BlockBudget | undefined;
  readonly ledger: LedgerGlance;
  /** Whether the failure notice exists. */
  readonly noticed: boolean;
  /** Epoch that this very process has charged already; `undefined` when it has charged none. */
  readonly chargedEpoch: string | undefined;
  /** The stop that is charged: hash of its payload, now, and this process. */
  readonly charge: Charge;
  /** When this process began, in milliseconds since the epoch. */
  readonly startedAtMs: number;
}

/** The outcome of an accounting. */
export interface Accounted {
  readonly budget: BlockBudget;
  /** Whether this call charged, or opened the count. */
  readonly charged: boolean;
  /**
   * Whether the count was opened by the first failure, whose own notice is the continuation; told to
   * every delivery of the stop that opened it.
   */
  readonly openedByFailure: boolean;
  /** Whether another process has already charged this very stop. */
  readonly secondDelivery: boolean;
}

/**
 * Charges one stop.
 *
 * An epoch is charged at most once a stop, because the wait sees the same one many times. A block
 * against the epoch that the previous block charged is charged again: nothing moved in between, and
 * without that a dead auto-arm would block for ever.
 */
export function account(accounting: Accounting): Accounted {
  const { mode, sessionId, stored, ledger, noticed, chargedEpoch, charge } = accounting;
  if (stored === undefined || stored.session !== sessionId) {
    const openedByFailure = noticed && isFailure(ledger.outcome);
    const count = openedByFailure ? 0 : 1;
    const budget = { session: sessionId, count, epoch: ledger.epoch, charge };
    return { budget, charged: true, openedByFailure, secondDelivery: false };
  }
  if (isSecondDelivery(accounting, stored.charge)) {
    // Only a first failure opens a count at nothing.
    const openedByFailure = stored.count === 0;
    return { budget: stored, charged: false, openedByFailure, secondDelivery: true };
  }
  const frozen = ledger.epoch !== "" && stored.epoch === ledger.epoch;
  const charged = !frozen || (mode === "block" && chargedEpoch !== ledger.epoch);
  const budget = {
    session: sessionId,
    count: stored.count + (charged ? 1 : 0),
    epoch: ledger.epoch,
    charge: charged ? charge : stored.charge,
  };
  return { budget, charged, openedByFailure: false, secondDelivery: false };
}

/**
 * Whether somebody else charged this very stop: the same payload, by a process that was still at work
 * when this one began.
 *
 * A hook that is registered twice runs twice at once for one event. Stops that follow each other may
 * carry the same bytes, but the later one begins after the earlier one was charged.
 */
function isSecondDelivery({ charge, startedAtMs }: Accounting, last: Charge | undefined): boolean {
  return last !== undefined && last.event === charge.event && last.pid !== charge.pid &&
    last.atMs >= startedAtMs;
}

/** Outcomes that tell of a failed arm. */
export function isFailure(outcome: string): boolean {
  return outcome === "failed" || outcome === "failed-suppressed";
}

/** What the attended alarm depends on, besides the locks that are taken for it. */
export interface EpisodeFact {
  readonly away: boolean;
  readonly noticed: boolean;
  readonly alarmed: boolean;
  readonly outcome: string;
}

/**
 * Whether a verified failure episode has used up its budget and its alarm is still unspent.
 *
 * An exhausted count alone never lets a turn end: only a failure that the session was told about.
 */
export function mayRaiseAlarm(episode: EpisodeFact, count: number, budget: number): boolean {
  return count > budget && !episode.away && episode.noticed && isFailure(episode.outcome) &&
    !episode.alarmed;
}

/** Claude's own cap on consecutive blocks when its variable is unset. */
export const HOST_BLOCK_CAP = 8;

/**
 * The budget that is used: never so large that the host overrides the guard before the alarm.
 *
 * The alarm comes at count `budget + 1`, and the host gives up at its cap without any notice. A cap
 * of 0 is no cap; one of 1 leaves room for no block at all, and then the smallest budget is kept.
 */
export function effectiveBudget(configured: number, hostCap: number): number {
  return hostCap === 0 ? configured : Math.max(1, Math.min(configured, hostCap - 1));
}
