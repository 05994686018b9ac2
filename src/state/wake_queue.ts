/** The durable wake queue: what a session still has to handle, one row a line. */

import { readCapture } from "../platform/file_text.ts";
import { nowSeconds } from "../platform/clock.ts";
import { lockWithin } from "./lock.ts";
import { publishDowntime } from "./recovery_marker.ts";

/** What a wake is about. */
export interface Wake {
  readonly kind: "signal" | "stale" | "check" | "heartbeat";
  /** Wakes with the same kind and key are one when they are shown. */
  readonly key: string;
  readonly payload: string;
}

/** Where the queue is. */
export interface QueuePaths {
  readonly state: string;
  readonly queue: string;
  readonly lock: string;
}

/** Milliseconds that an append waits for each of its two locks. */
const APPEND_LIMIT_MS = 5_000;

/**
 * Appends one row.
 *
 * In this order, under the queue lock: the recovery marker, the sequence, the row. A row never exists
 * without the evidence that somebody has to be told. Returns `false`, with no row, when a step fails.
 */
export async function appendWake(paths: QueuePaths, wake: Wake): Promise<boolean> {
  const attempt = await lockWithin(paths.lock, APPEND_LIMIT_MS);
  if (attempt.kind === "refused") return false;
  using _held = attempt.lock;
  if (!await publishDowntime(paths.state, APPEND_LIMIT_MS)) return false;
  try {
    const sequence = nextSequence(`${paths.state}/.wake-queue.seq`);
    const row = [nowSeconds(), sequence, wake.kind, oneField(wake.key), oneField(wake.payload)];
    Deno.writeTextFileSync(paths.queue, `${row.join("\t")}\n`, { append: true });
    return true;
  } catch {
    return false;
  }
}

function nextSequence(path: string): number {
  const content = readCapture(path);
  const last = content.kind === "text" && /^[0-9]{1,15}$/.test(content.text) ? content.text : "0";
  const next = Number(last) + 1;
  Deno.writeTextFileSync(path, `${next}\n`);
  return next;
}

function oneField(text: string): string {
  return text.replaceAll(/[\t\r\n]/g, " ");
}
