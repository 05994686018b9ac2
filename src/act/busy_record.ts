/** The record by which a parent home knows whether its secondmate is inside a turn. */

import { isAbsolute } from "@std/path";
import { ageSeconds, nowSeconds } from "../platform/clock.ts";
import { lineOf, readText } from "../platform/file_text.ts";
import { ownKind, targetKind } from "../platform/path_kind.ts";
import { removeQuietly, replaceFile } from "../state/replace_file.ts";

/** Where the record of this home is kept. */
export interface BusyPointer {
  /** State directory of the parent home. */
  readonly folder: string;
  readonly id: string;
  /** Launch that the record belongs to. */
  readonly generation: string;
}

const TOKEN = /^[A-Za-z0-9._-]+$/;
const SLUG = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

/** Tries at the record's lock, and milliseconds between them: about two seconds in all. */
const LOCK_TRIES = 40;
const LOCK_STEP_MS = 50;

/** Seconds after which a lock directory counts as left behind. */
const LOCK_STALE_SECONDS = 5;

/**
 * The pointer in a home, or `undefined` when there is none that can be used.
 *
 * Nothing that it names is ever executed, and a path that is not an existing absolute directory is no
 * path.
 */
export function readBusyPointer(home: string): BusyPointer | undefined {
  const path = `${home}/.fm-busy-stop`;
  if (ownKind(path) !== "file") return undefined;
  const content = readText(path);
  if (content.kind !== "text") return undefined;
  const lines = content.text.split("\n");
  const value = (...keys: readonly string[]) => {
    const line = lines.findLast((candidate) => keys.some((key) => candidate.startsWith(`${key}=`)));
    return line?.slice(line.indexOf("=") + 1) ?? "";
  };
  const folder = value("state", "state_dir", "state-dir");
  const id = value("id", "task");
  const generation = value("gen");
  if (!isAbsolute(folder) || targetKind(folder) !== "directory") return undefined;
  return SLUG.test(id) && TOKEN.test(generation) ? { folder, id, generation } : undefined;
}

/**
 * Records the end of a turn (`idle`) or its continuation (`busy`).
 *
 * Silent in every case: the verdict is final when this is called. A record of a later launch is never
 * overwritten by a late writer of an earlier one.
 */
export async function writeBusyRecord(
  pointer: BusyPointer,
  record: "idle" | "busy",
  staleSeconds = LOCK_STALE_SECONDS,
): Promise<void> {
  const lock = `${pointer.folder}/${pointer.id}.busy-state.lock`;
  if (!await takeDirectory(lock, staleSeconds)) return;
  try {
    writeUnderLock(pointer, record);
  } catch {
    // The parent judges a missing record as unknown, never as idle.
  } finally {
    removeQuietly(lock);
  }
}

function writeUnderLock({ folder, id, generation }: BusyPointer, record: "idle" | "busy"): void {
  const armed = readText(`${folder}/${id}.busy-gen`);
  if (armed.kind !== "text" || lineOf(armed.text, 1) !== generation) return;
  const path = `${folder}/${id}.busy-state`;
  const event = record === "idle" ? "stop" : "stop-blocked";
  const sequence = lastSequence(path, generation) + 1;
  const line = `v1 gen=${generation} seq=${sequence} state=${record} source=claude-hook ` +
    `event=${event} ts=${nowSeconds()}\n`;
  replaceFile(path, line, { mode: 0o600 });
}

function lastSequence(path: string, generation: string): number {
  const content = readText(path);
  const line = content.kind === "text" ? lineOf(content.text, 1) : "";
  if (!line.includes(` gen=${generation} `)) return 0;
  const digits = / seq=([0-9]{1,15}) /.exec(line)?.[1];
  return digits === undefined ? 0 : Number(digits);
}

/** The record's lock is a plain directory, unlike every other lock. */
async function takeDirectory(path: string, staleSeconds: number): Promise<boolean> {
  for (let attempt = 0; attempt < LOCK_TRIES; attempt++) {
    if (makeDirectory(path)) return true;
    await new Promise((resolve) => setTimeout(resolve, LOCK_STEP_MS));
  }
  if ((ageSeconds(path) ?? 0) < staleSeconds) return false;
  removeQuietly(path);
  return makeDirectory(path);
}

function makeDirectory(path: string): boolean {
  try {
    Deno.mkdirSync(path);
    return true;
  } catch {
    return false;
  }
}
