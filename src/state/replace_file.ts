/** State files written whole or not at all. */

import { writeWhole } from "../platform/write_whole.ts";

/** Characters of the random part of temporary names, as `mktemp` uses them. */
const NAME_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** `length` random characters for a temporary name. */
export function randomName(length = 6): string {
  const bytes = crypto.getRandomValues(new Uint8Array(length));
  return Array.from(bytes, (byte) => NAME_ALPHABET[byte % NAME_ALPHABET.length]).join("");
}

/**
 * Replaces the file at `path` in one step: a temporary file beside it, then a rename.
 *
 * `temporaryName` is the full name while it is being written; it must lie in the same folder. The
 * mode is masked by the umask. Throws what the operating system reports, with the temporary file
 * removed and `path` untouched.
 */
export function replaceFile(
  path: string,
  content: string | Uint8Array,
  options: {
    readonly mode?: number;
    readonly temporaryName?: string;
    /** Whether the bytes have to be on the disk before the old file goes. */
    readonly isFlushed?: true;
  } = {},
): void {
  const temporary = options.temporaryName ?? `${path}.tmp.${randomName()}`;
  try {
    const file = Deno.openSync(temporary, {
      write: true,
      createNew: true,
      mode: options.mode ?? 0o666,
    });
    using _file = file;
    writeWhole(file, content);
    if (options.isFlushed) file.syncDataSync();
    Deno.renameSync(temporary, path);
  } catch (error) {
    // A name that was taken belongs to somebody else and stays.
    if (!(error instanceof Deno.errors.AlreadyExists)) removeQuietly(temporary);
    throw error;
  }
}

/** Removes a file if it is there and can be removed. */
export function removeQuietly(path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    // Gone already, or not ours to remove: either way there is nothing left to do about it.
  }
}
