/** Queued rows of process-event sources, surfaced by the watcher once each. */

import { ownKind } from "../../platform/path_kind.ts";
import { printable } from "../../platform/printable.ts";
import { lockWithin } from "../../state/lock.ts";
import { type QueuePaths, readQueue } from "../../state/wake_queue.ts";

/** What is to be surfaced. */
export type QueuedResults =
  | { readonly kind: "none" }
  | {
    readonly kind: "wake";
    /** The line to print. */
    readonly reason: string;
    /**
     * Has to be called exactly once, after the line was written or could not be. The queue's lock is
     * held until then: a row is never marked as surfaced unless it was printed, and nobody drains it
     * in between.
     */
    readonly settle: (line: "written" | "not written") => void;
  };

/** Milliseconds that a cycle waits for the queue's lock. */
const LOCK_LIMIT_MS = 1_000;

const KEY_START = "procevent:";

/** Bytes of the longest key whose marker still is a file name. */
const LONGEST_KEY_BYTES = 119;

/** Takes the rows that nobody has been told about. With a queue that is busy it is for the next cycle. */
export async function takeQueuedResults(paths: QueuePaths): Promise<QueuedResults> {
  if (!hasNews(paths)) return { kind: "none" };
  const attempt = await lockWithin(paths.lock, LOCK_LIMIT_MS);
  if (attempt.kind === "refused") return { kind: "none" };
  const { lock } = attempt;
  const keys = unseenKeys(paths);
  if (keys.length === 0) {
    lock.release();
    return { kind: "none" };
  }
  return {
    kind: "wake",
    reason: surfacedReason(keys),
    settle: (line) => {
      try {
        if (line === "written") { for (const key of keys) markSeen(paths.state, key); }
      } finally {
        lock.release();
      }
    },
  };
}

/** The lock is only taken when there may be something: every cycle asks. */
function hasNews(paths: QueuePaths): boolean {
  return unseenKeys(paths).length > 0;
}

function unseenKeys({ state, queue }: QueuePaths): readonly string[] {
  const reading = readQueue(queue);
  if (reading.kind === "unreadable") return [];
  const keys = new Set<string>();
  for (const row of reading.rows) {
    if (!row.usable || row.kind !== "check" || !row.key.startsWith(KEY_START)) continue;
    if (new TextEncoder().encode(row.key).length > LONGEST_KEY_BYTES) continue;
    if (ownKind(seenPath(state, row.key)) === "absent") keys.add(row.key);
  }
  return [...keys];
}

function seenPath(state: string, key: string): string {
  return `${state}/.seen-procevent-${new TextEncoder().encode(key).toHex()}`;
}

function markSeen(state: string, key: string): void {
  try {
    Deno.openSync(seenPath(state, key), { write: true, createNew: true, mode: 0o600 }).close();
  } catch {
    // It costs one repeated wake at most.
  }
}

const GROUPS: ReadonlyArray<readonly [string, (key: string) => boolean]> = [
  ["process-event result captured:", (key) => !isStranded(key) && !isFailedLaunch(key)],
  ["process-event source stranded:", isStranded],
  ["process-event source failed to start:", isFailedLaunch],
];

function isStranded(key: string): boolean {
  return /^procevent:[^:]+:stranded:/.test(key);
}

function isFailedLaunch(key: string): boolean {
  return /^procevent:[^:]+:launch-failed:/.test(key);
}

/** One line for all keys, by what they are about. */
export function surfacedReason(keys: readonly string[]): string {
  const parts = GROUPS.map(([words, belongs]) => [words, ...keys.filter(belongs)])
    .filter((part) => part.length > 1)
    .map((part) => ` ${part.map(printable).join(" ")}`);
  return `check:${parts.join(";")}`;
}
