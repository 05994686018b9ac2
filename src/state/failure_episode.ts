/** The files of a failure episode: one notice, one alarm, and the block budget that bounds it. */

import { ownKind, targetKind } from "../platform/path_kind.ts";
import { BUDGET_NAME } from "./claude_budget.ts";

/** Empty file: the auto-arm delivered its one failure notice. */
export const NOTICE_NAME = ".claude-autoarm-failure-notified";

/** Empty file: the guard raised its one attended alarm. */
export const ALARM_NAME = ".claude-autoarm-failure-alarmed";

/**
 * In the order in which they go. Where that is cut short, what is left must not silence the next
 * failure: an alarm that stands alone would, a count or a notice without it only makes it louder.
 */
const EPISODE_FILES = [ALARM_NAME, BUDGET_NAME, NOTICE_NAME] as const;

/** Whether the failure notice of this episode was delivered. A dangling link does not count. */
export function noticeExists(state: string): boolean {
  return targetKind(`${state}/${NOTICE_NAME}`) !== "absent";
}

/** Whether the alarm of this episode was raised. */
export function alarmExists(state: string): boolean {
  return targetKind(`${state}/${ALARM_NAME}`) !== "absent";
}

/** Creates or empties the notice. Returns `false` when that is impossible. */
export function createNotice(state: string): boolean {
  return createEmpty(`${state}/${NOTICE_NAME}`, { create: true, truncate: true });
}

/** Creates the alarm; `false` when it exists already or cannot be made: it is raised once. */
export function createAlarm(state: string): boolean {
  return createEmpty(`${state}/${ALARM_NAME}`, { createNew: true });
}

function createEmpty(
  path: string,
  how: { create?: boolean; createNew?: boolean; truncate?: boolean },
): boolean {
  try {
    Deno.openSync(path, { write: true, ...how }).close();
    return true;
  } catch {
    return false;
  }
}

/**
 * Removes all files of the episode together; the caller holds the budget lock.
 *
 * A directory in the place of one of them changes nothing and fails: all three go, or none.
 */
export function removeEpisodeFiles(state: string): boolean {
  const paths = EPISODE_FILES.map((name) => `${state}/${name}`);
  if (paths.some((path) => ownKind(path) === "directory")) return false;
  return paths.every(removeIfThere);
}

/** Removes the budget alone; the caller holds the budget lock. */
export function removeBudget(state: string): boolean {
  return removeIfThere(`${state}/${BUDGET_NAME}`);
}

function removeIfThere(path: string): boolean {
  try {
    Deno.removeSync(path);
    return true;
  } catch (error) {
    return error instanceof Deno.errors.NotFound;
  }
}
