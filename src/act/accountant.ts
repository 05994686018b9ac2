/** The block budget of one stop, charged under its lock. */

import { account, type Accounted, type AccountingMode } from "../decide/budget.ts";
import { ledgerText } from "../observe/claim.ts";
import { nowMs } from "../platform/clock.ts";
import { readText } from "../platform/file_text.ts";
import { targetKind } from "../platform/path_kind.ts";
import { type BlockBudget, BUDGET_NAME, parseBudget, writeBudget } from "../state/claude_budget.ts";
import { glanceLedger } from "../state/claude_ledger.ts";
import { noticeExists } from "../state/failure_episode.ts";
import { underSharedBudgetLock } from "./episode.ts";

/** One stop, as it is charged. */
export interface ChargedStop {
  readonly state: string;
  readonly sessionId: string;
  /** Hash of the payload. */
  readonly event: string;
  /** When this process began, in milliseconds since the epoch. */
  readonly startedAtMs: number;
}

/** Charges one stop; keeps what this process has charged already. */
export class Accountant {
  readonly #stop: ChargedStop;
  #chargedEpoch: string | undefined;

  constructor(stop: ChargedStop) {
    this.#stop = stop;
  }

  /**
   * Charges, or observes an epoch.
   *
   * Returns `undefined`, with nothing changed, when the lock stays busy or the budget cannot be written.
   */
  async account(mode: AccountingMode): Promise<Accounted | undefined> {
    const { state } = this.#stop;
    return await underSharedBudgetLock(state, () => {
      const accounted = this.preview(mode);
      if (!accounted.secondDelivery) writeBudget(state, accounted.budget);
      if (accounted.charged) this.#chargedEpoch = accounted.budget.epoch;
      return accounted;
    });
  }

  /** What {@link account} would do now, without doing it. */
  preview(mode: AccountingMode): Accounted {
    const { state, sessionId, event, startedAtMs } = this.#stop;
    return account({
      mode,
      sessionId,
      stored: storedBudget(state),
      ledger: glanceLedger(ledgerText(state)),
      noticed: noticeExists(state),
      chargedEpoch: this.#chargedEpoch,
      charge: { event, atMs: nowMs(), pid: Deno.pid },
      startedAtMs,
    });
  }
}

/** The budget on disk; only a regular file counts. */
export function storedBudget(state: string): BlockBudget | undefined {
  const path = `${state}/${BUDGET_NAME}`;
  if (targetKind(path) !== "file") return undefined;
  const content = readText(path);
  return content.kind === "text" ? parseBudget(content.text) : parseBudget("");
}
