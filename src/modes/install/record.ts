/**
 * What `install` remembers of a file, so that `uninstall` can give it back to the byte: what was empty
 * before, which entries ours took the place of, and whether the file is of our making.
 */

import { isAbsolute } from "@std/path";
import type {
  EditMemory,
  FilledContainer,
  ReplacedEntry,
} from "../../harness/registration/edit_memory.ts";
import type { Environment } from "../../platform/environment.ts";
import { readText } from "../../platform/file_text.ts";
import { hashBytes } from "../../state/journal.ts";

/** The memory of one file. */
export interface InstallRecord extends EditMemory {
  readonly version: 1;
  /** The file, links resolved. */
  readonly path: string;
  /** Whether there was none before. */
  readonly created: boolean;
  /** The folders that were made for it, the innermost first. */
  readonly folders: readonly string[];
  /** Its text, where ours took the place of the whole file. */
  readonly original?: string;
}

/**
 * Where the record of the file at `path` lies,
 * `${XDG_STATE_HOME:-~/.local/state}/turnguard/install/<16 hex digits>.json`; `undefined` when neither
 * variable names an absolute folder.
 */
export async function recordPath(
  environment: Environment,
  path: string,
): Promise<string | undefined> {
  const named = environment.get("XDG_STATE_HOME");
  const home = environment.get("HOME");
  const folder = named !== undefined && isAbsolute(named)
    ? named
    : home !== undefined && isAbsolute(home)
    ? `${home}/.local/state`
    : undefined;
  if (folder === undefined) return undefined;
  const id = await hashBytes(new TextEncoder().encode(path));
  return `${folder}/turnguard/install/${id}.json`;
}

/** Reads a record. One that makes no sense, or is another file's, counts as none. */
export function readRecord(recordAt: string, path: string): InstallRecord | undefined {
  const file = readText(recordAt);
  if (file.kind !== "text") return undefined;
  try {
    const value: unknown = JSON.parse(file.text);
    if (member(value, "version") !== 1 || member(value, "path") !== path) return undefined;
    return {
      version: 1,
      path,
      created: member(value, "created") === true,
      folders: list(member(value, "folders")).filter(isText),
      ...originalOf(member(value, "original")),
      filled: list(member(value, "filled")).flatMap(filledOf),
      replaced: list(member(value, "replaced")).flatMap(replacedOf),
    };
  } catch {
    return undefined;
  }
}

function originalOf(value: unknown): Pick<InstallRecord, "original"> {
  return isText(value) ? { original: value } : {};
}

function filledOf(value: unknown): FilledContainer[] {
  const text = member(value, "text");
  return isText(text) ? [{ path: list(member(value, "path")).filter(isText), text }] : [];
}

function replacedOf(value: unknown): ReplacedEntry[] {
  const [event, token, text] = ["event", "token", "text"].map((name) => member(value, name));
  return isText(event) && isText(token) && isText(text) ? [{ event, token, text }] : [];
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}
