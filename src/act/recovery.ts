/** Changes of the recovery marker, each under the marker's own lock. */

import { judgeArm, type MarkerEvent, nextMarker } from "../decide/recovery_marker.ts";
import { type LockTry, lockWithin, tryLock } from "../state/lock.ts";
import {
  readRecoveryMarker,
  recoveryLockPath,
  type RecoveryMarker,
  setMarkerAside,
  writeRecoveryMarker,
} from "../state/recovery_marker.ts";
import { isQueueEmpty, type QueuePaths } from "../state/wake_queue.ts";

/** What a change of the marker came to. */
export type MarkerChange =
  /** The marker now says what it must; `marker` is what stands there, where something valid does. */
  | { readonly kind: "done"; readonly marker: RecoveryMarker | undefined }
  /** The caller speaks of a stretch of downtime that is not the current one. */
  | { readonly kind: "other-generation" }
  /** Nothing was changed: the event cannot happen now, the lock is busy, or writing failed. */
  | { readonly kind: "failed" };

const FAILED: MarkerChange = { kind: "failed" };

/** Milliseconds that a change waits for the marker's lock, unless its caller has less time. */
const MARKER_LIMIT_MS = 10_000;

/**
 * Records that supervision is down from now on.
 *
 * Returns `false` when it could not be recorded within `limitMs`; a watch lock must then stay, and a
 * wake must not be queued.
 */
export async function publishDowntime(
  state: string,
  limitMs: number,
  on: "close" | "append" = "close",
): Promise<boolean> {
  return (await change(state, on, { limitMs })).kind === "done";
}

/** As {@link publishDowntime}, with one try; for callers that hold a lock and must not wait. */
export function publishDowntimeNow(state: string): boolean {
  try {
    return changeUnder(state, "close", undefined, tryLock(recoveryLockPath(state))).kind === "done";
  } catch {
    return false;
  }
}

/** Records that a session was shown what is queued; `expected` is the generation it was told of. */
export async function beginHandling(
  state: string,
  options: { readonly limitMs?: number; readonly expected?: string } = {},
): Promise<MarkerChange> {
  return await change(state, "begin", { ...options, named: options.expected });
}

/** Records that the stretch of downtime `generation` has been handled. */
export async function acknowledgeRecovery(
  state: string,
  generation: string,
  limitMs = MARKER_LIMIT_MS,
): Promise<MarkerChange> {
  return await change(state, "acknowledge", { limitMs, named: generation });
}

/**
 * Opens an announced stretch again when wakes are still queued: the one that was told is gone.
 *
 * For a watcher that starts and continues nobody's cycle. `false` when it could not be done.
 */
export async function reopenRecovery(
  paths: QueuePaths,
  limitMs = MARKER_LIMIT_MS,
): Promise<boolean> {
  if (isQueueEmpty(paths.queue)) return true;
  return (await change(paths.state, "reopen", { limitMs })).kind === "done";
}

/** What an arming watcher has to do. `recover`: tell the session; that is recorded already. */
export type ArmCheck = "none" | "wait" | "recover" | "failed";

/**
 * Asks whether something has to be announced, and records the announcement.
 *
 * Takes the queue's lock before the marker's, so that no wake is queued in between. `limitMs` holds for
 * each of the two locks.
 */
export async function armCheck(paths: QueuePaths, limitMs = MARKER_LIMIT_MS): Promise<ArmCheck> {
  try {
    // Every cycle of every watcher asks, and nearly always there is nothing: no lock is taken for that.
    const glance = judgeNow(paths);
    if (glance.kind !== "recover") return glance.kind;
    const queue = await lockWithin(paths.lock, limitMs);
    if (queue.kind === "refused") return "failed";
    using _queue = queue.lock;
    const marker = await lockWithin(recoveryLockPath(paths.state), limitMs);
    if (marker.kind === "refused") return "failed";
    using _marker = marker.lock;
    return announce(paths);
  } catch {
    return "failed";
  }
}

function judgeNow({ state, queue }: QueuePaths): ReturnType<typeof judgeArm> {
  return judgeArm(readRecoveryMarker(state), isQueueEmpty(queue) ? "empty" : "wakes");
}

function announce(paths: QueuePaths): ArmCheck {
  const { state } = paths;
  const answer = judgeNow(paths);
  if (answer.kind !== "recover") return answer.kind;
  if (answer.setAside) setMarkerAside(state);
  const { generation } = answer;
  writeRecoveryMarker(state, { status: "announced", kind: "downtime", generation });
  return "recover";
}

interface ChangeOptions {
  readonly limitMs?: number;
  readonly named?: string | undefined;
}

async function change(
  state: string,
  event: MarkerEvent,
  { limitMs = MARKER_LIMIT_MS, named }: ChangeOptions,
): Promise<MarkerChange> {
  try {
    return changeUnder(state, event, named, await lockWithin(recoveryLockPath(state), limitMs));
  } catch {
    return FAILED;
  }
}

function changeUnder(
  state: string,
  event: MarkerEvent,
  named: string | undefined,
  attempt: LockTry,
): MarkerChange {
  if (attempt.kind === "refused") return FAILED;
  using _held = attempt.lock;
  const found = readRecoveryMarker(state);
  const next = nextMarker(found, event, named);
  switch (next.kind) {
    case "write":
      return { kind: "done", marker: writeRecoveryMarker(state, next.marker) };
    case "unchanged":
      return { kind: "done", marker: found.kind === "valid" ? found.marker : undefined };
    case "refused":
      return FAILED;
    case "other-generation":
      return { kind: "other-generation" };
  }
}
