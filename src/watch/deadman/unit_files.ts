/** Small text files that a scheduler reads, written only where they would change. */

import { dirname } from "@std/path";
import { errorMessage, readText } from "../../platform/file_text.ts";
import { ownKind } from "../../platform/path_kind.ts";
import { replaceFile } from "../../state/replace_file.ts";

/** Files by their path. */
export type Files = Readonly<Record<string, string>>;

/** Permissions of a file for a scheduler: to be read by all, to be written by its owner. */
const FILE_MODE = 0o644;

/** Writes the files whose text differs. `undefined` in place of the reason when all went well. */
export function writeFiles(files: Files): {
  readonly written: readonly string[];
  readonly because: string | undefined;
} {
  const written: string[] = [];
  for (const [path, text] of Object.entries(files)) {
    if (isWritten(path, text)) continue;
    try {
      Deno.mkdirSync(dirname(path), { recursive: true });
      replaceFile(path, text, { mode: FILE_MODE });
      written.push(path);
    } catch (error) {
      return { written, because: `${path} cannot be written: ${errorMessage(error)}` };
    }
  }
  return { written, because: undefined };
}

/** Removes files that are there; why that failed, if it did. */
export function removeFiles(paths: readonly string[]): string | undefined {
  for (const path of paths) {
    try {
      Deno.removeSync(path);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) continue;
      return `${path} cannot be removed: ${errorMessage(error)}`;
    }
  }
  return undefined;
}

/** Which of the paths are taken, by whatever it is. */
export function present(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => ownKind(path) !== "absent");
}

/** Whether each file holds exactly its text; the first that does not, otherwise. */
export function firstDifferent(files: Files): string | undefined {
  return Object.entries(files).find(([path, text]) => !isWritten(path, text))?.[0];
}

function isWritten(path: string, text: string): boolean {
  const found = readText(path);
  return found.kind === "text" && found.text === text;
}
