/** Lines that are appended whole, or not at all. */

import { targetKind } from "../platform/path_kind.ts";
import { writeWhole } from "../platform/write_whole.ts";

const NEWLINE = "\n".charCodeAt(0);

/**
 * Appends `line`, its newline included, to the file at `path`, which is made with mode 0600 if it is
 * missing.
 *
 * A writer may have been killed inside its line. What it left is completed when it is the beginning of
 * this very line, as when a wake that nobody acknowledged is handled again; else it stays a line of its
 * own, so that this one never becomes part of it.
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
    writeWhole(file, continued(file, before, line));
  } catch (error) {
    file.truncateSync(before);
    throw error;
  }
}

/** What has to follow the file's last byte, so that `line` stands in it whole. */
function continued(file: Deno.FsFile, size: number, line: string): Uint8Array {
  const bytes = new TextEncoder().encode(line);
  const end = new Uint8Array(Math.min(size, bytes.length));
  file.seekSync(-end.length, Deno.SeekMode.End);
  file.readSync(end);
  const torn = end.subarray(end.lastIndexOf(NEWLINE) + 1);
  if (torn.length === 0) return bytes;
  // Without a line's end before it, and with more of the file there, it began earlier.
  const isWhole = torn.length < end.length || end.length === size;
  const begins = isWhole && torn.every((byte, index) => byte === bytes[index]);
  return begins ? bytes.subarray(torn.length) : new TextEncoder().encode(`\n${line}`);
}
