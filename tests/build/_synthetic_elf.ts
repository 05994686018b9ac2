/**
 * Makes small files in the form of an executable that Deno compiled for Linux.
 *
 * @module
 */

import { createHash } from "node:crypto";
import type { Pin } from "../../src/build/targets.ts";

/** Where the parts of a synthetic file are, to break one of them. */
export interface SyntheticElf {
  /** The whole file. */
  readonly bytes: Uint8Array;
  /** The pin of the runtime in it. */
  readonly pin: Pin;
  /** The offset of the payload. */
  readonly payload: number;
  /** The offset of the trailer. */
  readonly trailer: number;
}

const MARK = new TextEncoder().encode("d3n0l4nd");
const SECTIONS = 3;
const SECTION_BYTES = 64;

/** A file with a runtime of a header, some code and a section table, and a payload. */
export function syntheticElf(code = "the code"): SyntheticElf {
  const codeBytes = new TextEncoder().encode(code);
  const table = 64 + codeBytes.length;
  const payload = table + SECTIONS * SECTION_BYTES;
  const trailer = payload + 2 * MARK.length + 40;
  const bytes = new Uint8Array(trailer + 16);
  const view = new DataView(bytes.buffer);

  bytes.set([0x7f, 0x45, 0x4c, 0x46]);
  view.setBigUint64(0x28, BigInt(table), true);
  view.setUint16(0x3a, SECTION_BYTES, true);
  view.setUint16(0x3c, SECTIONS, true);
  bytes.set(codeBytes, 64);
  bytes.set(MARK, payload);
  bytes.set(MARK, trailer - MARK.length);
  view.setUint32(trailer, 0x501e, true);
  view.setUint32(trailer + 4, 679, true);
  view.setBigUint64(trailer + 8, BigInt(bytes.length - payload), true);

  const sha256 = createHash("sha256").update(bytes.subarray(0, payload)).digest("hex");
  return { bytes, pin: { bytes: payload, sha256 }, payload, trailer };
}
