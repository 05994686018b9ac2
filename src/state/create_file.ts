/** State files that are made whole, or not at all, and never in the place of another. */

import { writeWhole } from "../platform/write_whole.ts";
import { removeQuietly } from "./replace_file.ts";

/**
 * Makes the file at `path`: written under the name `temporary` in the same folder, then linked into
 * place, so that of two makers one is told `exists`. `permissions` are exact, whatever the umask is.
 *
 * Throws what the operating system reports, with nothing left behind.
 */
export function createFile(
  path: string,
  temporary: string,
  content: string | Uint8Array,
  permissions?: number,
): "created" | "exists" {
  try {
    writeExclusively(temporary, content, permissions);
    Deno.linkSync(temporary, path);
    return "created";
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return "exists";
    throw error;
  } finally {
    removeQuietly(temporary);
  }
}

/** Writes a file that must not be there yet. Half a file may be left when the disk is full. */
export function writeExclusively(
  path: string,
  content: string | Uint8Array,
  permissions?: number,
): void {
  const file = Deno.openSync(path, { write: true, createNew: true, mode: permissions ?? 0o666 });
  using _file = file;
  // A mode given to open is masked by the umask.
  if (permissions !== undefined) Deno.chmodSync(path, permissions);
  writeWhole(file, content);
}
