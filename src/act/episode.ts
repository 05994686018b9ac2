/** The end of a failure episode: its files go together, or none of them goes. */

import { tryLock } from "../state/lock.ts";
import { BUDGET_NAME } from "../state/claude_budget.ts";
import { noticeExists, removeBudget, removeEpisodeFiles } from "../state/failure_episode.ts";

/** Path of the lock that guards the budget and the episode files. */
export function budgetLockPath(state: string): string {
  return `${state}/${BUDGET_NAME}.lock`;
}

/**
 * Ends the episode after supervision was proven; one try at the lock, no waiting.
 *
 * Returns `false` when that could not be recorded. Callers then treat the recovery as not provable:
 * an alarm or a count that outlived its episode would silence the next one.
 */
export function endEpisode(state: string): boolean {
  return underBudgetLock(state, () => removeEpisodeFiles(state)) ?? false;
}

/**
 * Forgets the count of a home in which nothing needs supervision.
 *
 * Kept while the failure notice stands: an unresolved episode must not start over because its work
 * went away for a moment. Contention changes nothing.
 */
export function forgetCount(state: string): void {
  if (!noticeExists(state)) underBudgetLock(state, () => removeBudget(state));
}

/** Runs `act` under the budget lock; `undefined` when the lock cannot be had at once. */
export function underBudgetLock<T>(state: string, act: () => T): T | undefined {
  try {
    const attempt = tryLock(budgetLockPath(state));
    if (attempt.kind === "refused") return undefined;
    using _held = attempt.lock;
    return act();
  } catch {
    // A state directory that cannot be written to is contention without an end.
    return undefined;
  }
}
