/** Events that did not get the lock: one file each, until a holder takes them in. */

import { join } from "@std/path";
import type { ActivityEvent } from "../decide/activity/activity_event.ts";
import { parseEvent } from "../decide/activity/parse_event.ts";
import { putFile, randomHex, TEMPORARY_NAME } from "./put_file.ts";
import { readSafely } from "./safe_file.ts";
import { ensureOwnFolder, isOwnFolder } from "./safe_folder.ts";

/** Files that a spool may hold before nothing is added any more. */
const FILE_LIMIT = 5_000;

/** Files that are taken in at once. */
const TAKE_LIMIT = 500;

/** Bytes of one event. */
const EVENT_LIMIT = 4_096;

/** Milliseconds after which a temporary file counts as left over. */
const LEFT_OVER_MS = 3_600_000;

/** One event in a spool. */
export interface SpooledEvent {
  readonly name: string;
  /** `undefined` when its file is no event. */
  readonly event: ActivityEvent | undefined;
}

/** The spool of an activity file. */
export function spoolPath(file: string): string {
  return `${file}.spool`;
}

/** Adds an event. Throws when there is no room; `false` when the spool is full or not ours. */
export function spoolEvent(file: string, uid: number, event: ActivityEvent): boolean {
  const folder = spoolPath(file);
  if (!ensureOwnFolder(folder, uid) || visibleNames(folder).length >= FILE_LIMIT) return false;
  const microseconds = Math.floor((performance.timeOrigin + performance.now()) * 1_000);
  const stamp = String(microseconds).padStart(16, "0");
  putFile(join(folder, `${stamp}-${Deno.pid}-${randomHex(2)}.ev`), `${bounded(event)}\n`);
  return true;
}

/** The oldest events of a spool, in the order in which they came. Never throws. */
export function spooledEvents(file: string, uid: number): readonly SpooledEvent[] {
  const folder = spoolPath(file);
  const names = visibleNames(folder);
  if (names.length === 0 || !isOwnFolder(folder, uid)) return [];
  return names.toSorted().slice(0, TAKE_LIMIT).map((name) => {
    const content = readSafely(join(folder, name), uid, 2 * EVENT_LIMIT);
    return { name, event: content.kind === "text" ? parseEvent(content.text) : undefined };
  });
}

/** Makes the spool, so that looking into it is cheap; without one, there is nothing in it. */
export function makeSpool(file: string, uid: number): void {
  ensureOwnFolder(spoolPath(file), uid);
}

/** Whether anything waits in the spool. */
export function hasSpooled(file: string): boolean {
  return visibleNames(spoolPath(file)).length > 0;
}

/** Removes events that were taken in. Never throws. */
export function removeSpooled(file: string, names: readonly string[]): void {
  for (const name of names) remove(join(spoolPath(file), name));
}

/** Removes temporary files in `folder` that a killed writer left an hour ago or earlier. */
export function removeLeftOvers(folder: string, uid: number): void {
  for (const name of namesIn(folder).filter((name) => TEMPORARY_NAME.test(name))) {
    const path = join(folder, name);
    try {
      const info = Deno.lstatSync(path);
      const age = Date.now() - (info.mtime?.getTime() ?? Date.now());
      if (info.uid === uid && info.isFile && age > LEFT_OVER_MS) Deno.removeSync(path);
    } catch {
      // Gone already.
    }
  }
}

/** An event in the room that a spool has for it: what is long can do without. */
function bounded(event: ActivityEvent): string {
  const text = JSON.stringify(event);
  if (new TextEncoder().encode(text).length <= EVENT_LIMIT) return text;
  const { report: _report, stops: _stops, cwd: _cwd, transcript: _transcript, ...rest } = event;
  return JSON.stringify(rest);
}

function visibleNames(folder: string): readonly string[] {
  return namesIn(folder).filter((name) => !name.startsWith("."));
}

function namesIn(folder: string): readonly string[] {
  try {
    return Array.from(Deno.readDirSync(folder), ({ name }) => name);
  } catch {
    return [];
  }
}

function remove(path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    // Another holder was faster.
  }
}
