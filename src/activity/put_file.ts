/** Private files that appear whole, and never through a link that somebody planted. */

import { basename, dirname, join } from "@std/path";
import { replaceFile } from "../state/replace_file.ts";

/** A temporary file's name; one that is left over is removed after an hour. */
export const TEMPORARY_NAME = /^\..+\.[0-9]+\.[0-9a-f]{8}\.tmp$/;

/** Puts `text` at `path`, mode 0600. Throws what the system reports, with nothing left behind. */
export function putFile(path: string, text: string): void {
  const name = `.${basename(path)}.${Deno.pid}.${randomHex(4)}.tmp`;
  replaceFile(path, text, { mode: 0o600, temporaryName: join(dirname(path), name) });
}

/** Random bytes as hex digits. */
export function randomHex(bytes: number): string {
  return crypto.getRandomValues(new Uint8Array(bytes)).toHex();
}
