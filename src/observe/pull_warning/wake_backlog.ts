/** How many queued wakes this session has to handle, and how many another one has taken on. */

import type { Environment } from "../../platform/environment.ts";
import type { Processes } from "../../platform/processes.ts";
import { queuePaths, type QueueRow, readQueue, type UnusableRow } from "../../state/wake_queue.ts";
import { observeReservedRows } from "../branch_grant.ts";

/** Queued rows by who handles them. */
export interface WakeBacklog {
  /** Rows of this session; a line that is no row is always its own to deal with. */
  readonly pending: number;
  /** Rows that a live branch grant reserves. */
  readonly reserved: number;
}

/** Counts the queue without its lock. What cannot be read counts as one wake, since it may hold any. */
export async function observeWakeBacklog(
  state: string,
  environment: Environment,
  processes: Processes,
): Promise<WakeBacklog> {
  const found = readQueue(queuePaths(state, environment).queue);
  if (found.kind === "unreadable") return { pending: 1, reserved: 0 };
  if (found.rows.length === 0) return { pending: 0, reserved: 0 };
  return countBacklog(found.rows, await observeReservedRows(state, processes));
}

/** Counts rows by who handles them; `granted` are the numbers that a live grant reserves. */
export function countBacklog(
  rows: readonly (QueueRow | UnusableRow)[],
  granted: ReadonlySet<number>,
): WakeBacklog {
  const reserved = rows.filter((row) => row.usable && granted.has(row.sequence)).length;
  return { pending: rows.length - reserved, reserved };
}
