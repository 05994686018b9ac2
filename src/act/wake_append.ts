/** Queueing a wake, together with the evidence that somebody has to be told. */

import { lockWithin } from "../state/lock.ts";
import { appendRow, type QueuePaths, type Wake } from "../state/wake_queue.ts";
import { publishDowntime } from "./recovery.ts";

/**
 * Milliseconds that an append waits for each of its two locks.
 *
 * Long, since a wake that is not queued ends the watcher, and short against every grace, since a watcher
 * that waits does not beat.
 */
const APPEND_LIMIT_MS = 60_000;

/**
 * Appends one row.
 *
 * In this order, under the queue lock: the recovery marker, the sequence, the row. A row never exists
 * without the evidence that somebody has to be told. Returns `false`, with no row, when a step fails.
 */
export async function appendWake(
  paths: QueuePaths,
  wake: Wake,
  limitMs = APPEND_LIMIT_MS,
): Promise<boolean> {
  try {
    const attempt = await lockWithin(paths.lock, limitMs);
    if (attempt.kind === "refused") return false;
    using _held = attempt.lock;
    if (!await publishDowntime(paths.state, limitMs, "append")) return false;
    appendRow(paths, wake);
    return true;
  } catch {
    return false;
  }
}
