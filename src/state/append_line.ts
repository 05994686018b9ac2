/** Lines that are appended whole, or not at all. */

import { targetKind } from "../platform/path_kind.ts";
import { writeWhole } from "../platform/write_whole.ts";

/**
 * Appends `line`, its newline included, to the file at `path`, which is made with mode 0600 if it is
 * missing.
 *
 * Throws what the operating system reports, and for anything that is no regular file; no part of the
 * line is left behind then.
 */
export function appendWholeLine(path: string, line: string): void {
  const kind = targetKind(path);
  // Opening a FIFO would wait for a reader.
  if (kind !== "file" && kind !== "absent") throw new Error(`${path} is not a regular file`);
  const file = Deno.openSync(path, { read: true, append: true, create: true, mode: 0o600 });
  using _file = file;
  const before = file.statSync().size;
  try {
    writeWhole(file, `${isTorn(file, before) ? "\n" : ""}${line}`);
  } catch (error) {
    file.truncateSync(before);
    throw error;
  }
}

/** Whether a writer was killed inside its line; the next line must not become part of that one. */
function isTorn(file: Deno.FsFile, size: number): boolean {
  if (size === 0) return false;
  const last = new Uint8Array(1);
  file.seekSync(-1, Deno.SeekMode.End);
  return file.readSync(last) === 1 && last[0] !== "\n".charCodeAt(0);
}
