/**
 * Checks the ad-hoc signature of a Mach-O file: every page against its hash.
 *
 * Apple's processors start no file without one, and this machine need not be one of theirs.
 *
 * @module
 */

import { hashBytes } from "./file_hash.ts";
import { loadCommands } from "./macho.ts";

const CODE_SIGNATURE_COMMAND = 0x1d;
const SUPER_BLOB_MAGIC = 0xfade_0cc0;
const CODE_DIRECTORY_MAGIC = 0xfade_0c02;
const CODE_DIRECTORY_SLOT = 0;
const SHA256_HASH_TYPE = 2;
const SHA256_BYTES = 32;

/** What {@link checkSignature} finds. */
export type SignatureCheck =
  | { readonly kind: "valid"; readonly pages: number }
  | { readonly kind: "unsigned" }
  | {
    readonly kind: "broken";
    /** What is wrong, as the end of "the signature ...". */
    readonly because: string;
  };

/** Checks every page of the file that the signature covers. */
export function checkSignature(file: Uint8Array): SignatureCheck {
  const command = loadCommands(file)?.find(({ type }) => type === CODE_SIGNATURE_COMMAND);
  if (command === undefined) return { kind: "unsigned" };
  const data = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const start = data.getUint32(command.at + 8, true);
  if (start + 12 > file.length || data.getUint32(start) !== SUPER_BLOB_MAGIC) {
    return broken("does not start like one");
  }
  const directory = codeDirectory(data, start);
  if (directory === undefined) return broken("holds no code directory");
  return checkPages(file, data, directory, start);
}

function codeDirectory(data: DataView, start: number): number | undefined {
  const count = data.getUint32(start + 8);
  for (let index = 0; index < count; index++) {
    const entry = start + 12 + 8 * index;
    if (entry + 8 > data.byteLength) return undefined;
    if (data.getUint32(entry) !== CODE_DIRECTORY_SLOT) continue;
    const at = start + data.getUint32(entry + 4);
    return data.getUint32(at) === CODE_DIRECTORY_MAGIC ? at : undefined;
  }
  return undefined;
}

function checkPages(
  file: Uint8Array,
  data: DataView,
  directory: number,
  signedUpTo: number,
): SignatureCheck {
  const hashes = directory + data.getUint32(directory + 16);
  const count = data.getUint32(directory + 28);
  const limit = data.getUint32(directory + 32);
  const hashType = data.getUint8(directory + 37);
  const pageBytes = 1 << data.getUint8(directory + 39);
  if (hashType !== SHA256_HASH_TYPE) return broken("uses another hash than sha256");
  if (limit !== signedUpTo) return broken("does not cover the file up to itself");
  if (count !== Math.ceil(limit / pageBytes)) return broken("has too few or too many hashes");
  for (let page = 0; page < count; page++) {
    const bytes = file.subarray(page * pageBytes, Math.min((page + 1) * pageBytes, limit));
    const at = hashes + page * SHA256_BYTES;
    if (hashBytes(bytes) !== hex(file.subarray(at, at + SHA256_BYTES))) {
      return broken(`does not fit page ${page}`);
    }
  }
  return { kind: "valid", pages: count };
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function broken(because: string): SignatureCheck {
  return { kind: "broken", because };
}
