/** Announcing captured results: one row each, until somebody has acknowledged them. */

import { appendWake } from "../../act/wake_append.ts";
import {
  isHandled,
  type Result,
  resultWake,
  unhandledResults,
} from "../../state/procevent/inbox.ts";
import { readQueue, type Wake } from "../../state/wake_queue.ts";
import { heldSource, type SourceSetup } from "./setup.ts";

/**
 * Queues a result under its source's lock; `false` when it was acknowledged already.
 *
 * A row that is still queued is not repeated: it would be shown as one with the other anyway, and a
 * reconciliation every few seconds would make the queue grow for as long as nobody looks. Throws a
 * `SourceError` when it cannot be queued.
 */
export async function publishResult(
  setup: SourceSetup,
  result: Result,
  lockLimitMs?: number,
): Promise<boolean> {
  using _held = await heldSource(setup, result.id, lockLimitMs);
  if (isHandled(setup.home.state, result)) return false;
  await queueOnce(setup, resultWake(result));
  return true;
}

/** Publishes everything that nobody has acknowledged, lowest sequence first; returns how many. */
export async function publishAll(setup: SourceSetup, lockLimitMs?: number): Promise<number> {
  let published = 0;
  for (const result of unhandledResults(setup.home.state)) {
    try {
      if (await publishResult(setup, result, lockLimitMs)) published++;
    } catch {
      // The result stays; the next reconciliation publishes it.
    }
  }
  return published;
}

/** Queues a wake unless a row of its key is queued. Throws when it cannot be queued. */
export async function queueOnce({ paths }: SourceSetup, wake: Wake): Promise<void> {
  const reading = readQueue(paths.queue);
  const queued = reading.kind === "read" &&
    reading.rows.some((row) => row.usable && row.kind === wake.kind && row.key === wake.key);
  if (!queued && !await appendWake(paths, wake)) throw new Error(`${wake.key} cannot be queued`);
}
