/**
 * The watch of a home, from one park to the next.
 *
 * Whenever somebody writes to a session that was parked, the next stop takes the baton from a park that
 * still watches. It leaves at its next look, and as every watcher that leaves, it records that supervision
 * is down; the successor would tell the session of a gap in which nothing can have been missed.
 */

import type { EarlierPark } from "../../act/park/baton.ts";
import { acknowledgeRecovery } from "../../act/recovery.ts";
import { WATCH_LOCK_NAME } from "../../observe/watcher.ts";
import type { Bell } from "../../platform/bell.ts";
import type { Environment } from "../../platform/environment.ts";
import { readCapture } from "../../platform/file_text.ts";
import { liveness } from "../../platform/liveness.ts";
import { parsePid, type Pid } from "../../platform/pid.ts";
import { readRecoveryMarker } from "../../state/recovery_marker.ts";
import { isQueueEmpty, queuePaths } from "../../state/wake_queue.ts";

/** Milliseconds between two looks at the earlier park, and how many polls of its own it is given. */
const STEP_MS = 50;
const POLLS = 3;

/** Milliseconds that the record may take; without it the session is told of the gap, no more. */
const RECORD_LIMIT_MS = 1_000;

/** The earlier park, if it is this home's watcher at this moment. */
export function watchingPark(state: string, before: EarlierPark | undefined): Pid | undefined {
  const pid = parsePid(before?.pid ?? "");
  return pid !== undefined && holdsWatch(state, pid) ? pid : undefined;
}

/** What waiting for the earlier park needs. */
export interface HandoverSetup {
  readonly state: string;
  readonly environment: Environment;
  /** Milliseconds between two looks of the earlier park at whether it may stay. */
  readonly pollMs: number;
  readonly stopping: () => boolean;
  /** Rung when this park is to stop itself. */
  readonly bell: Bell;
}

/** Waits until the earlier park has let the watch go, and closes the gap between the two. */
export async function takeWatchOver(setup: HandoverSetup, earlier: Pid): Promise<void> {
  const { state, environment, pollMs, stopping, bell } = setup;
  const end = performance.now() + POLLS * pollMs;
  while (holdsWatch(state, earlier)) {
    if (stopping() || performance.now() >= end) return;
    await bell.within(STEP_MS);
  }
  const found = readRecoveryMarker(state);
  if (found.kind !== "valid") return;
  const { status, kind, generation } = found.marker;
  // What is queued was told to nobody: that is no gap, and a row that comes now is announced.
  if (status !== "pending" || kind !== "downtime") return;
  if (!isQueueEmpty(queuePaths(state, environment).queue)) return;
  await acknowledgeRecovery(state, generation, RECORD_LIMIT_MS);
}

function holdsWatch(state: string, pid: Pid): boolean {
  const recorded = readCapture(`${state}/${WATCH_LOCK_NAME}/pid`);
  return recorded.kind === "text" && parsePid(recorded.text) === pid && liveness(pid) === "alive";
}
