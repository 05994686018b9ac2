/** The durable wake queue: what a session still has to handle, one row a line. */

import { nowSeconds } from "../platform/clock.ts";
import type { Environment } from "../platform/environment.ts";
import { errorMessage, readCapture } from "../platform/file_text.ts";
import { targetKind } from "../platform/path_kind.ts";
import { appendWholeLine } from "./append_line.ts";
import { replaceFile } from "./replace_file.ts";
import {
  formatRow,
  joinRows,
  parseQueue,
  type QueueRow,
  type UnusableRow,
  type Wake,
} from "./wake_queue/rows.ts";

export type { QueueRow, UnusableRow, Wake } from "./wake_queue/rows.ts";
export { collapseRows } from "./wake_queue/rows.ts";

/** Where the queue is. */
export interface QueuePaths {
  readonly state: string;
  readonly queue: string;
  readonly lock: string;
}

/** The queue of a state directory, or the one that the environment names. */
export function queuePaths(state: string, environment: Environment): QueuePaths {
  return {
    state,
    queue: environment.get("FM_WAKE_QUEUE") ?? `${state}/.wake-queue`,
    lock: environment.get("FM_WAKE_QUEUE_LOCK") ?? `${state}/.wake-queue.lock`,
  };
}

/** What was found at the queue's path. An absent queue has no rows. */
export type QueueReading =
  | { readonly kind: "read"; readonly rows: readonly (QueueRow | UnusableRow)[] }
  | { readonly kind: "unreadable"; readonly because: string };

/** Bytes up to which a queue is read; one that is larger was not written by wakes. */
const QUEUE_LIMIT_BYTES = 64 * 1024 * 1024;

/** Reads the queue. Never throws, and never waits: only a regular file (links followed) is opened. */
export function readQueue(path: string): QueueReading {
  try {
    const info = Deno.statSync(path);
    if (!info.isFile) return { kind: "unreadable", because: "it is not a regular file" };
    if (info.size > QUEUE_LIMIT_BYTES) {
      return { kind: "unreadable", because: `it is larger than ${QUEUE_LIMIT_BYTES} bytes` };
    }
    return { kind: "read", rows: parseQueue(Deno.readFileSync(path)) };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { kind: "read", rows: [] };
    return { kind: "unreadable", because: errorMessage(error) };
  }
}

/** Whether nothing is queued. What is not a regular file holds no wake. */
export function isQueueEmpty(path: string): boolean {
  try {
    const info = Deno.statSync(path);
    return !info.isFile || info.size === 0;
  } catch {
    return true;
  }
}

/**
 * Replaces the queue by the given rows. The caller holds the queue's lock.
 *
 * Throws what the operating system reports, with the queue untouched.
 */
export function replaceQueue(path: string, rows: readonly (QueueRow | UnusableRow)[]): void {
  const mode = (Deno.statSync(path).mode ?? 0o600) & 0o777;
  replaceFile(path, joinRows(rows), { mode });
}

/**
 * Gives `wake` the next number and appends its row. The caller holds the queue's lock and has recorded
 * that somebody has to be told.
 *
 * Throws what the operating system reports; no part of a row is left behind then.
 */
export function appendRow({ state, queue }: QueuePaths, wake: Wake): void {
  const kind = targetKind(queue);
  // No number is given out for a row that cannot be appended.
  if (kind !== "file" && kind !== "absent") throw new Error(`${queue} is not a regular file`);
  const sequence = lastSequence(state, queue) + 1;
  // Never in place: a number that is lost half-way would be given out a second time.
  replaceFile(`${state}/.wake-queue.seq`, `${sequence}\n`);
  appendWholeLine(queue, formatRow(wake, sequence, nowSeconds()));
}

/**
 * The last number that was given out.
 *
 * Without a readable record of it, the numbers that are queued count: a number below one of theirs
 * would be acknowledged along with it, unseen.
 */
function lastSequence(state: string, queue: string): number {
  const content = readCapture(`${state}/.wake-queue.seq`);
  if (content.kind === "text" && /^[0-9]{1,15}$/.test(content.text)) return Number(content.text);
  const found = readQueue(queue);
  if (found.kind === "unreadable") throw new Error(found.because);
  return found.rows.reduce((last, row) => row.usable ? Math.max(last, row.sequence) : last, 0);
}
