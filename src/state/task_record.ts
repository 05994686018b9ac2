/** Task records, `state/<id>.meta`: work in flight, one file each. */

import { ageSeconds } from "../platform/clock.ts";
import { readText } from "../platform/file_text.ts";
import { ownKind, targetKind } from "../platform/path_kind.ts";
import { createFile } from "./create_file.ts";
import { randomName } from "./replace_file.ts";

declare const taskIdBrand: unique symbol;

/** The name of a task: letters, digits and `.` `_` `-`, no leading dot, at most 64 characters. */
export type TaskId = string & { readonly [taskIdBrand]: "TaskId" };

/** Ending of a record's file name. */
const RECORD_SUFFIX = ".meta";

/** The `kind` that marks a record as written here and not by another program of the home. */
export const OWN_KIND = "turnguard";

/** Longest note, so that a list stays a list. */
export const NOTE_LIMIT = 500;

/** What a record says. A record of another program may carry none of it. */
export interface TaskRecord {
  readonly id: string;
  readonly kind: string | undefined;
  /** Seconds since the epoch, as written by whoever made the record. */
  readonly createdAtSeconds: number | undefined;
  readonly note: string | undefined;
  /** Seconds since the file was last written; `undefined` when that cannot be read. */
  readonly fileAgeSeconds: number | undefined;
}

/** Outcome of taking a record away. */
export type Removal =
  | { readonly kind: "removed" }
  | { readonly kind: "absent" }
  /** Written by another program, which may still rely on it. */
  | { readonly kind: "foreign"; readonly by: string | undefined };

/** The task id that `text` is, or `undefined` when it cannot be one. */
export function parseTaskId(text: string): TaskId | undefined {
  return isTaskId(text) ? text : undefined;
}

function isTaskId(text: string): text is TaskId {
  return /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/.test(text);
}

/** Whether `text` can stand as a note: one line of text that no terminal acts on. */
export function isNote(text: string): boolean {
  return text.length <= NOTE_LIMIT && !/[\p{Cc}\u2028\u2029]/u.test(text);
}

/** Path of the record of `id`. */
export function recordPath(state: string, id: TaskId): string {
  return `${state}/${id}${RECORD_SUFFIX}`;
}

/**
 * Creates the record of a task, unless anything is there under its name.
 *
 * The record appears complete or not at all: it is written beside its place and then linked there,
 * which fails where a rename would overwrite. Throws what the operating system reports.
 */
export function createTaskRecord(
  state: string,
  id: TaskId,
  task: { readonly createdAtSeconds: number; readonly note: string | undefined },
): "created" | "exists" {
  // A leading dot keeps the unfinished file from counting as a task.
  const temporary = `${state}/.${id}${RECORD_SUFFIX}.tmp.${randomName()}`;
  const lines = [`kind=${OWN_KIND}`, `created_at=${task.createdAtSeconds}`];
  if (task.note !== undefined) lines.push(`note=${task.note}`);
  return createFile(recordPath(state, id), temporary, `${lines.join("\n")}\n`);
}

/**
 * Removes the record of a task.
 *
 * A record that another program wrote stays unless `whose` is `anyone`. Throws what the operating
 * system reports, for a folder of that name too.
 */
export function removeTaskRecord(state: string, id: TaskId, whose: "own" | "anyone"): Removal {
  const path = recordPath(state, id);
  if (ownKind(path) === "absent") return { kind: "absent" };
  const { kind } = readTaskRecord(state, id);
  if (kind !== OWN_KIND && whose === "own") return { kind: "foreign", by: kind };
  try {
    Deno.removeSync(path);
    return { kind: "removed" };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { kind: "absent" };
    throw error;
  }
}

/**
 * All records of a state directory by name, of whichever program.
 *
 * The same files count as tasks for the guard: names with a leading dot and links that lead nowhere
 * are left out, contents do not matter. Throws when the directory cannot be listed.
 */
export function listTaskRecords(state: string): readonly TaskRecord[] {
  return [...Deno.readDirSync(state)]
    .map((entry) => entry.name)
    .filter((name) => name.endsWith(RECORD_SUFFIX) && !name.startsWith("."))
    .filter((name) => targetKind(`${state}/${name}`) !== "absent")
    .toSorted()
    .map((name) => readTaskRecord(state, name.slice(0, -RECORD_SUFFIX.length)));
}

function readTaskRecord(state: string, id: string): TaskRecord {
  const path = `${state}/${id}${RECORD_SUFFIX}`;
  const file = readText(path);
  const fields = file.kind === "text" ? parseRecord(file.text) : new Map<string, string>();
  const createdAt = fields.get("created_at") ?? "";
  return {
    id,
    kind: fields.get("kind"),
    createdAtSeconds: /^[0-9]{1,15}$/.test(createdAt) ? Number(createdAt) : undefined,
    note: fields.get("note"),
    fileAgeSeconds: ageSeconds(path),
  };
}

/** The `key=value` lines of a record; of a key that is there twice the last one counts. */
export function parseRecord(text: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const line of text.split("\n")) {
    const end = line.indexOf("=");
    if (end > 0) fields.set(line.slice(0, end), line.slice(end + 1));
  }
  return fields;
}
