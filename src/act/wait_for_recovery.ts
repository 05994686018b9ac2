/** The guard's bounded wait for the other Stop hook, woken by what changes in the state directory. */

import { basename } from "@std/path";
import { BEACON_NAME } from "../observe/beacon.ts";
import { WATCH_LOCK_NAME } from "../observe/watcher.ts";
import { Bell } from "../platform/bell.ts";
import { DirectoryChanges } from "../platform/directory_changes.ts";
import { LEDGER_NAME } from "../state/claude_ledger.ts";
import { ownerLockPath } from "./legacy_claim.ts";

/** Milliseconds between looks when nothing is reported: the pace of a shell guard. */
const STEP_MS = 100;

/**
 * Looks until `look` answers or `waitMs` have passed, and at least once; gives the last answer.
 *
 * The wait counts from the first look, in whole steps. A change of the ledger, of a lock or of the
 * beacon leads to a look at once, and a step without any report to one as well, because file events
 * do not exist on every file system. An arm that is a shell script may take longer than the guard's own
 * start, so the time is never shortened by the looks themselves.
 */
export async function waitForRecovery<Answer>(
  state: string,
  waitMs: number,
  look: () => Promise<Answer | undefined>,
): Promise<Answer | undefined> {
  const startedAt = performance.now();
  const limitMs = Math.floor(waitMs / STEP_MS) * STEP_MS;
  if (limitMs === 0) return await look();
  const bell = new Bell();
  const names = recoveryFiles(state);
  using _changes = new DirectoryChanges(state, bell, (name) => names.has(name));
  while (true) {
    const answer = await look();
    const leftMs = limitMs - (performance.now() - startedAt);
    if (answer !== undefined || leftMs <= 0) return answer;
    await bell.within(Math.min(STEP_MS, leftMs));
  }
}

/** Names of the files that recovery shows in. */
function recoveryFiles(state: string): ReadonlySet<string> {
  return new Set([LEDGER_NAME, WATCH_LOCK_NAME, BEACON_NAME, basename(ownerLockPath(state))]);
}
