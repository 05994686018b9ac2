/** One lapse of supervision is one full banner: who prints it, and when the lapse is over. */

import { ADAPTER_FAILURE_NAME } from "../observe/pull_warning/adapter_failure.ts";
import { type LockTry, tryLock } from "../state/lock.ts";
import { removeQuietly } from "../state/replace_file.ts";
import {
  readStaleBanner,
  removeStaleBanner,
  staleBannerLockPath,
  writeStaleBanner,
} from "../state/stale_banner.ts";

/** `first` prints the banner; `repeat` reminds of it. */
export type Announcement = "first" | "repeat";

/** Tries at the lock, and milliseconds between them. */
const TRIES = 50;
const STEP_MS = 20;

/**
 * Claims the announcement of the lapse `key`: of many callers at once exactly one is `first`.
 *
 * A record that cannot be made leaves everybody `first`: an alarm twice is better than none.
 */
export async function claimAnnouncement(state: string, key: string): Promise<Announcement> {
  for (let tried = 0; tried < TRIES; tried++) {
    if (tried > 0) await new Promise((resolve) => setTimeout(resolve, STEP_MS));
    if (seenAnnouncement(state, key) === "repeat") return "repeat";
    const attempt = tryQuietly(state);
    if (attempt === undefined) return "first";
    if (attempt.kind === "refused") continue;
    using _held = attempt.lock;
    return recordUnderLock(state, key);
  }
  return seenAnnouncement(state, key);
}

/** What {@link claimAnnouncement} would say, for callers that may change nothing. */
export function seenAnnouncement(state: string, key: string): Announcement {
  return readStaleBanner(state) === key ? "repeat" : "first";
}

/** Ends the lapse: supervision is there again, or is not needed any more. */
export function endLapse(state: string): void {
  removeStaleBanner(state);
}

/** Forgets what an adapter could not do, once supervision has been proven without it. */
export function forgetAdapterFailure(state: string): void {
  removeQuietly(`${state}/${ADAPTER_FAILURE_NAME}`);
}

/** Somebody may have recorded it between the look and the lock. */
function recordUnderLock(state: string, key: string): Announcement {
  if (seenAnnouncement(state, key) === "repeat") return "repeat";
  try {
    writeStaleBanner(state, key);
  } catch {
    // The banner is printed all the same; the next caller cannot know of it.
  }
  return "first";
}

/** `undefined` when no lock can ever be had here. */
function tryQuietly(state: string): LockTry | undefined {
  try {
    return tryLock(staleBannerLockPath(state));
  } catch {
    return undefined;
  }
}
