/**
 * The sha256 of a file or of its beginning, read piece by piece.
 *
 * @module
 */

import { createHash } from "node:crypto";
import type { Pin } from "./targets.ts";

/**
 * The sha256 of the first `bytes` bytes of a file, of all when absent.
 *
 * A shorter file gives the sha256 of what is there. Needs read permission;
 * throws what opening or reading throws.
 */
export async function hashFile(path: string, bytes = Infinity): Promise<string> {
  using file = await Deno.open(path);
  const hash = createHash("sha256");
  const piece = new Uint8Array(1 << 20);
  for (let left = bytes; left > 0;) {
    const count = await file.read(piece.subarray(0, Math.min(left, piece.length)));
    if (count === null) break;
    hash.update(piece.subarray(0, count));
    left -= count;
  }
  return hash.digest("hex");
}

/** The sha256 of bytes. */
export function hashBytes(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/**
 * Whether a path is a file with exactly the pinned bytes.
 *
 * A missing file, or something that is no file, is simply no match. Needs read
 * permission.
 */
export async function matchesPin(path: string, pin: Pin): Promise<boolean> {
  try {
    const stat = await Deno.stat(path);
    return stat.isFile && stat.size === pin.bytes && await hashFile(path) === pin.sha256;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
