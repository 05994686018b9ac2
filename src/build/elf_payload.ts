/**
 * Finds where the runtime ends and the program begins in a compiled ELF file.
 *
 * On Linux, Deno appends the program to an unmodified runtime:
 *
 *     runtime | payload | magic u32 | section hash u32 | length u64
 *
 * All numbers are little endian; the length counts the payload and the 16 bytes
 * of this trailer. The payload starts and ends with the name of its section.
 * Every mark is checked, since a cut in the wrong place is a broken runtime.
 *
 * @module
 */

const TRAILER_BYTES = 16;
const TRAILER_MAGIC = 0x0000_501e;
const SECTION_NAME = new TextEncoder().encode("d3n0l4nd");
/** The section hash is the plain sum of the bytes of its name. */
const SECTION_HASH = SECTION_NAME.reduce((sum, byte) => sum + byte, 0);

const ELF_HEADER_BYTES = 64;
const ELF_MAGIC = Uint8Array.of(0x7f, 0x45, 0x4c, 0x46);

/** The result of {@link findPayload}: where the payload starts, or why not. */
export type PayloadSearch =
  | {
    readonly kind: "found";
    /** The length of the runtime in bytes, which is the payload's offset. */
    readonly runtimeBytes: number;
  }
  | {
    readonly kind: "not-compiled";
    /** The mark that is missing, as the end of "the file ...". */
    readonly because: string;
  };

/**
 * Finds the payload of an executable made by `deno compile` for Linux.
 *
 * Needs read permission; throws what opening or reading throws.
 */
export function findPayload(path: string): PayloadSearch {
  using file = Deno.openSync(path);
  const size = file.statSync().size;
  if (size < ELF_HEADER_BYTES + TRAILER_BYTES) return missing("is too short");

  const header = readAt(file, 0, ELF_HEADER_BYTES);
  if (!sameBytes(bytesOf(header, 0, ELF_MAGIC.length), ELF_MAGIC)) {
    return missing("does not start like an ELF file");
  }

  const trailer = readAt(file, size - TRAILER_BYTES, TRAILER_BYTES);
  if (trailer.getUint32(0, true) !== TRAILER_MAGIC) {
    return missing("does not end with the trailer's magic number");
  }
  if (trailer.getUint32(4, true) !== SECTION_HASH) {
    return missing("names another section in its trailer");
  }
  const length = trailer.getBigUint64(8, true);
  if (length <= 2 * TRAILER_BYTES || length >= BigInt(size)) {
    return missing("states an impossible payload length");
  }

  const cut = size - Number(length);
  if (!hasSectionName(file, cut)) return missing("lacks the mark at the payload's start");
  if (!hasSectionName(file, size - TRAILER_BYTES - SECTION_NAME.length)) {
    return missing("lacks the mark at the payload's end");
  }
  if (endOfSectionTable(header) !== BigInt(cut)) {
    return missing("has a payload that does not follow the ELF section table");
  }
  return { kind: "found", runtimeBytes: cut };
}

/** An untouched runtime ends with its section table: e_shoff + e_shentsize * e_shnum. */
function endOfSectionTable(header: DataView): bigint {
  const offset = header.getBigUint64(0x28, true);
  return offset + BigInt(header.getUint16(0x3a, true) * header.getUint16(0x3c, true));
}

function hasSectionName(file: Deno.FsFile, offset: number): boolean {
  const found = readAt(file, offset, SECTION_NAME.length);
  return sameBytes(bytesOf(found, 0, SECTION_NAME.length), SECTION_NAME);
}

/** Bytes beyond the end of the file read as zero, which no mark consists of. */
function readAt(file: Deno.FsFile, offset: number, length: number): DataView {
  const bytes = new Uint8Array(length);
  file.seekSync(offset, Deno.SeekMode.Start);
  for (let filled = 0; filled < length;) {
    const count = file.readSync(bytes.subarray(filled));
    if (count === null) break;
    filled += count;
  }
  return new DataView(bytes.buffer);
}

function bytesOf(view: DataView, offset: number, length: number): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset + offset, length);
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

function missing(because: string): PayloadSearch {
  return { kind: "not-compiled", because };
}
