/** The end of a failure episode: its files go together, or none of them goes. */

import { type HeldLock, lockWithin, tryLock } from "../state/lock.ts";
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
 * {@link endEpisode} for the guard, which waits a moment for the lock.
 *
 * A hook that is registered twice, and the auto-arm, come to the same end at the same moment; losing
 * that race would block a turn that is supervised.
 */
export async function endEpisodeShared(state: string): Promise<boolean> {
  return await underSharedBudgetLock(state, () => removeEpisodeFiles(state)) ?? false;
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

/** Milliseconds that a guard waits for the budget lock, which is held for a few file operations. */
const SHARED_LIMIT_MS = 200;
const SHARED_STEP_MS = 10;

/** The budget lock for a guard; `undefined` when it stays busy or the state cannot be written to. */
export async function sharedBudgetLock(state: string): Promise<HeldLock | undefined> {
  try {
    const attempt = await lockWithin(budgetLockPath(state), SHARED_LIMIT_MS, {
      stepMs: SHARED_STEP_MS,
    });
    return attempt.kind === "acquired" ? attempt.lock : undefined;
  } catch {
    return undefined;
  }
}

/** {@link underBudgetLock}, after waiting a moment for another guard. */
export async function underSharedBudgetLock<T>(
  state: string,
  act: () => T,
): Promise<T | undefined> {
  const lock = await sharedBudgetLock(state);
  if (lock === undefined) return undefined;
  using _held = lock;
  try {
    return act();
  } catch {
    return undefined;
  }
}
