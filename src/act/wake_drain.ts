/** Presenting the wake queue to a session, and taking what it has handled out of it. */

import { errorMessage } from "../platform/file_text.ts";
import type { Pid } from "../platform/pid.ts";
import { type HeldLock, lockWithin } from "../state/lock.ts";
import { readRecoveryMarker, type RecoveryMarker } from "../state/recovery_marker.ts";
import {
  collapseRows,
  type QueuePaths,
  type QueueRow,
  readQueue,
  replaceQueue,
  type UnusableRow,
} from "../state/wake_queue.ts";
import { acknowledgeRecovery, beginHandling, publishDowntime } from "./recovery.ts";

/** Milliseconds that a drain waits for the queue's lock, and again for the marker's. */
const LOCK_LIMIT_MS = 10_000;

/** Why a drain or an acknowledgement did not come to anything; nothing was changed. */
export type QueueRefusal =
  | { readonly kind: "busy"; readonly holder: Pid | undefined }
  | { readonly kind: "unable"; readonly because: string };

/** Lines that were no rows, and what became of them. */
export interface UnusableRows {
  readonly rows: readonly UnusableRow[];
  /** Why they could not be taken out of the queue, where that failed. */
  readonly keptBecause: string | undefined;
}

/** What a drain found. */
export type Presentation =
  | QueueRefusal
  | {
    readonly kind: "presented";
    readonly rows: readonly QueueRow[];
    readonly unusable: UnusableRows;
    /** What to acknowledge once the rows are handled; absent when there is nothing to. */
    readonly handling: { readonly through: number; readonly generation: string } | undefined;
  }
  /** Rows are there, but the marker is no marker: handling them could not be recorded. */
  | { readonly kind: "invalid-recovery"; readonly unusable: UnusableRows }
  /** The marker could not be changed. */
  | { readonly kind: "not-recorded"; readonly unusable: UnusableRows };

/** What a drain needs. */
export interface PresentRequest {
  readonly paths: QueuePaths;
  /** Numbers of the rows that somebody else has taken on. */
  readonly reserved: () => Promise<ReadonlySet<number>>;
  readonly limitMs?: number;
}

/**
 * Shows what is queued and records that a session is handling it.
 *
 * No usable row is removed, so it may be repeated, by several processes at once, until the
 * acknowledgement. Never throws.
 */
export async function presentWakes(request: PresentRequest): Promise<Presentation> {
  const { paths, limitMs = LOCK_LIMIT_MS } = request;
  return await underQueueLock(paths, limitMs, () => presentUnderLock(request, limitMs));
}

async function presentUnderLock(
  { paths, reserved }: PresentRequest,
  limitMs: number,
): Promise<Presentation> {
  const found = readQueue(paths.queue);
  if (found.kind === "unreadable") return { kind: "unable", because: found.because };
  const usable = found.rows.filter((row) => row.usable);
  const unusable = takeOutUnusable(paths.queue, usable, found.rows.filter((row) => !row.usable));
  if (usable.length === 0) return await presentNothing(paths.state, unusable, limitMs);
  const opened = await openEpisode(paths.state, limitMs);
  if (opened !== "open") return { kind: opened, unusable };
  const begun = await beginHandling(paths.state, { limitMs });
  if (begun.kind !== "done" || begun.marker === undefined) {
    return { kind: "not-recorded", unusable };
  }
  const taken = await reserved();
  const rows = collapseRows(usable.filter((row) => !taken.has(row.sequence)));
  return { kind: "presented", rows, unusable, handling: toAcknowledge(begun.marker, rows) };
}

/** An episode may be open without any row: a watcher that went away leaves one. */
async function presentNothing(
  state: string,
  unusable: UnusableRows,
  limitMs: number,
): Promise<Presentation> {
  const nothing = { kind: "presented", rows: [], unusable, handling: undefined } as const;
  const found = readRecoveryMarker(state);
  if (found.kind !== "valid" || found.marker.status === "acked") return nothing;
  const begun = await beginHandling(state, { limitMs });
  if (begun.kind !== "done" || begun.marker === undefined) {
    return { kind: "not-recorded", unusable };
  }
  return { ...nothing, handling: toAcknowledge(begun.marker, []) };
}

function toAcknowledge(
  { generation }: RecoveryMarker,
  rows: readonly QueueRow[],
): { readonly through: number; readonly generation: string } {
  return { through: rows.reduce((last, row) => Math.max(last, row.sequence), 0), generation };
}

/** Rows of a program that records no downtime, and those of a retired episode, get one of their own. */
async function openEpisode(
  state: string,
  limitMs: number,
): Promise<"open" | "invalid-recovery" | "not-recorded"> {
  const found = readRecoveryMarker(state);
  if (found.kind === "invalid" || found.kind === "directory") return "invalid-recovery";
  if (found.kind === "valid" && found.marker.status !== "acked") return "open";
  return await publishDowntime(state, limitMs, "append") ? "open" : "not-recorded";
}

function takeOutUnusable(
  queue: string,
  usable: readonly QueueRow[],
  rows: readonly UnusableRow[],
): UnusableRows {
  if (rows.length === 0) return { rows, keptBecause: undefined };
  try {
    replaceQueue(queue, usable);
    return { rows, keptBecause: undefined };
  } catch (error) {
    return { rows, keptBecause: errorMessage(error) };
  }
}

/** What an acknowledgement came to. */
export type Acknowledgement =
  | QueueRefusal
  /** The episode could not be retired; the queue is untouched. */
  | { readonly kind: "not-retired" }
  /** The rows could not be taken out. */
  | { readonly kind: "not-consumed"; readonly because: string }
  | {
    readonly kind: "acknowledged";
    readonly consumed: number;
    readonly remaining: number;
    /** Whether the marker speaks of the acknowledged episode, of another one, or of none. */
    readonly current: "same" | "another" | "none";
  };

/** What an acknowledgement needs. */
export interface AcknowledgeRequest {
  readonly paths: QueuePaths;
  /** Rows up to this number were handled. */
  readonly through: number;
  readonly generation: string;
  readonly limitMs?: number;
}

/**
 * Takes the handled rows out of the queue, and retires the episode when none remain.
 *
 * The episode is retired first: killed in between, the rows are still there, and a watcher that arms
 * opens a new episode for them. Never throws.
 */
export async function acknowledgeWakes(request: AcknowledgeRequest): Promise<Acknowledgement> {
  const { paths, limitMs = LOCK_LIMIT_MS } = request;
  return await underQueueLock(paths, limitMs, () => acknowledgeUnderLock(request, limitMs));
}

async function acknowledgeUnderLock(
  { paths, through, generation }: AcknowledgeRequest,
  limitMs: number,
): Promise<Acknowledgement> {
  const found = readQueue(paths.queue);
  if (found.kind === "unreadable") return { kind: "unable", because: found.because };
  const remaining = found.rows.filter((row) => !row.usable || row.sequence > through);
  if (remaining.length === 0) {
    const retired = await acknowledgeRecovery(paths.state, generation, limitMs);
    if (retired.kind === "failed") return { kind: "not-retired" };
  }
  const consumed = found.rows.length - remaining.length;
  try {
    if (consumed > 0) replaceQueue(paths.queue, remaining);
  } catch (error) {
    return { kind: "not-consumed", because: errorMessage(error) };
  }
  return {
    kind: "acknowledged",
    consumed,
    remaining: remaining.length,
    current: currentEpisode(paths.state, generation),
  };
}

function currentEpisode(state: string, generation: string): "same" | "another" | "none" {
  const found = readRecoveryMarker(state);
  if (found.kind !== "valid") return "none";
  return found.marker.generation === generation ? "same" : "another";
}

async function underQueueLock<Outcome>(
  paths: QueuePaths,
  limitMs: number,
  act: () => Promise<Outcome>,
): Promise<Outcome | QueueRefusal> {
  let held: HeldLock | undefined;
  try {
    const attempt = await lockWithin(paths.lock, limitMs);
    if (attempt.kind === "refused") return { kind: "busy", holder: attempt.holder };
    held = attempt.lock;
    return await act();
  } catch (error) {
    return { kind: "unable", because: errorMessage(error) };
  } finally {
    held?.release();
  }
}
