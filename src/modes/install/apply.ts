/** Changes made to files: all of them or none, and none to a file that somebody else has just changed. */

import { dirname } from "@std/path";
import { errorMessage } from "../../platform/file_text.ts";
import { ownKind } from "../../platform/path_kind.ts";
import { removeQuietly, replaceFile } from "../../state/replace_file.ts";
import type { FileChange } from "./plan.ts";

/** Whether all was done, or which file could not be, and that nothing was. */
export type Applied =
  | { readonly kind: "done" }
  | {
    readonly kind: "failed";
    readonly path: string;
    /** What is wrong, as the end of a sentence that begins with the path. */
    readonly because: string;
    /** Files that could not be put back either. */
    readonly left: readonly string[];
  };

/** A file that is no longer what was read. */
class ChangedMeanwhile extends Error {
  constructor() {
    super("was changed by somebody else just now");
  }
}

/** Makes every change, in their order. When one fails, those before it are taken back. */
export function applyChanges(changes: readonly FileChange[]): Applied {
  const undo: { readonly path: string; readonly back: () => void }[] = [];
  for (const change of changes) {
    try {
      undo.push({ path: change.path, back: applyOne(change) });
    } catch (error) {
      const left: string[] = [];
      for (const { path, back } of undo.toReversed()) {
        try {
          back();
        } catch {
          left.push(path);
        }
      }
      const because = error instanceof ChangedMeanwhile
        ? error.message
        : `cannot be written: ${errorMessage(error)}`;
      return { kind: "failed", path: change.path, because, left };
    }
  }
  return { kind: "done" };
}

/** Makes one change, and returns what takes it back. */
function applyOne(change: FileChange): () => void {
  const { path, before, after, mode } = change;
  if (change.isFolder) return applyFolder(change);
  if (after === undefined) {
    requireUnchanged(path, before);
    Deno.removeSync(path);
    const gone = removeEmptyFolders(change.folders ?? []);
    return () => {
      for (const folder of gone.toReversed()) Deno.mkdirSync(folder);
      if (before !== undefined) write(path, before, mode);
    };
  }
  const made = makeFolders(dirname(path));
  try {
    requireUnchanged(path, before);
    write(path, after, mode);
  } catch (error) {
    for (const folder of made.toReversed()) removeQuietly(folder);
    throw error;
  }
  return () => {
    requireUnchanged(path, new TextEncoder().encode(after));
    if (before !== undefined) return write(path, before, mode);
    Deno.removeSync(path);
    for (const folder of made.toReversed()) removeQuietly(folder);
  };
}

/** Makes or removes a folder, and returns what takes that back. */
function applyFolder({ path, after, mode }: FileChange): () => void {
  const make = (): void => {
    Deno.mkdirSync(path);
    if (mode !== undefined) Deno.chmodSync(path, mode);
  };
  const remove = (): void => Deno.removeSync(path);
  if (after === undefined) {
    remove();
    return make;
  }
  make();
  return remove;
}

/** An editor may have saved the file since it was read; its text must not be lost. */
function requireUnchanged(path: string, before: Uint8Array | undefined): void {
  if (before === undefined) {
    if (ownKind(path) !== "absent") throw new ChangedMeanwhile();
    return;
  }
  if (ownKind(path) !== "file") throw new ChangedMeanwhile();
  const now = Deno.readFileSync(path);
  if (now.length !== before.length || now.some((byte, index) => byte !== before[index])) {
    throw new ChangedMeanwhile();
  }
}

function write(path: string, content: string | Uint8Array, mode: number | undefined): void {
  replaceFile(path, content, { isFlushed: true, ...(mode === undefined ? {} : { mode }) });
  // The umask has taken bits from a new file that the old one had.
  if (mode !== undefined) Deno.chmodSync(path, mode);
}

/** The folders that had to be made, the outermost first. */
function makeFolders(path: string): readonly string[] {
  const missing = missingFolders(path).toReversed();
  for (const folder of missing) Deno.mkdirSync(folder);
  return missing;
}

/** The folders of `path`, itself included, that do not exist, the innermost first. */
export function missingFolders(path: string): readonly string[] {
  const missing: string[] = [];
  for (let folder = path; ownKind(folder) === "absent"; folder = dirname(folder)) {
    if (folder === dirname(folder)) break;
    missing.push(folder);
  }
  return missing;
}

/** The folders that were empty and are gone. */
function removeEmptyFolders(folders: readonly string[]): readonly string[] {
  const gone: string[] = [];
  for (const folder of folders) {
    try {
      Deno.removeSync(folder);
      gone.push(folder);
    } catch {
      // Somebody else has put something into it.
      break;
    }
  }
  return gone;
}
