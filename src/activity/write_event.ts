/** Recording one event without waiting for anybody. */

import type { ActivityEvent } from "../decide/activity/activity_event.ts";
import type { ExpiryLimits } from "../decide/activity/limits.ts";
import { tryActivityLock } from "./activity_lock.ts";
import { foldEvents, type FoldOutcome } from "./fold_events.ts";
import { whyNot } from "./safe_file.ts";
import { hasSpooled, spoolEvent } from "./spool.ts";

/** How an event was recorded. */
export type WriteOutcome =
  | "written"
  /** The file does not say yet which process the session runs in. */
  | "written without process"
  | "spooled"
  /** Nothing could be stored; the file's time says that something happened. */
  | "touched"
  /** The file cannot be used; nothing was changed. */
  | "unusable";

/**
 * Looks for what others spooled meanwhile, and milliseconds for all of them. Only where hundreds of
 * hooks run at once is there anything left after the first few.
 */
const SWEEPS = 40;
const SWEEP_MS = 2_000;

/**
 * Records one event in the activity file at `file`, whose folder may be used. Never throws.
 *
 * Whoever does not get the lock leaves the event in the spool. The holder looks there again after it
 * has let go of the lock, so that no event stays behind.
 */
export function writeEvent(
  file: string,
  uid: number,
  limits: ExpiryLimits,
  event: ActivityEvent,
): WriteOutcome {
  const first = tryFold(file, uid, limits, event);
  if (first === "refused" || first === "unusable") return "unusable";
  if (first === "newer") return touchOwn(file, uid);
  if (!isWritten(first)) {
    const spooled = trySpool(file, uid, event);
    if (spooled !== "spooled") return touchOwn(file, uid);
  }
  const end = performance.now() + SWEEP_MS;
  for (let sweep = 0; sweep < SWEEPS && performance.now() < end; sweep++) {
    if (!hasSpooled(file)) break;
    if (!isWritten(tryFold(file, uid, limits, undefined))) break;
  }
  return isWritten(first) ? first : "spooled";
}

type FoldTry = FoldOutcome | "busy" | "refused" | "failed";

function isWritten(tried: FoldTry): tried is "written" | "written without process" {
  return tried === "written" || tried === "written without process";
}

function tryFold(
  file: string,
  uid: number,
  limits: ExpiryLimits,
  event: ActivityEvent | undefined,
): FoldTry {
  const tried = tryActivityLock(file, uid);
  if (tried.kind !== "held") return tried.kind;
  try {
    return foldEvents(file, uid, limits, event);
  } catch {
    return "failed";
  } finally {
    tried.lock[Symbol.dispose]();
  }
}

function trySpool(file: string, uid: number, event: ActivityEvent): "spooled" | "failed" {
  try {
    return spoolEvent(file, uid, event) ? "spooled" : "failed";
  } catch {
    return "failed";
  }
}

/** Sets the time of a file that is ours: that needs no room on a full disk. */
function touchOwn(file: string, uid: number): "touched" | "unusable" {
  try {
    if (whyNot(Deno.lstatSync(file), uid) !== undefined) return "unusable";
    const now = new Date();
    Deno.utimeSync(file, now, now);
    return "touched";
  } catch {
    return "unusable";
  }
}
