/**
 * Takes the program out of a compiled Mach-O file, so that the runtime is left.
 *
 * For Apple's processors Deno puts the program into a segment of its own in front of the last one,
 * and signs the result; for Intel it appends the program behind a sentinel and lengthens the string
 * table over it. Both are undone here. The signature goes too: compiling makes a new one, and
 * without it a runtime has the same bytes whatever it once carried.
 *
 * @module
 */

import { Buffer } from "node:buffer";

const MAGIC_64 = 0xfeed_facf;
const HEADER_BYTES = 32;

/** Load commands that hold offsets into the last segment, by what has to move with it. */
const COMMAND = {
  segment: 0x19,
  symbols: 0x2,
  dynamicSymbols: 0xb,
  codeSignature: 0x1d,
  dyldInfo: 0x8000_0022,
} as const;

/** Commands with one offset and one size: function starts, data in code, exports, fix-ups. */
const LINKED_DATA: readonly number[] = [
  COMMAND.codeSignature,
  0x26,
  0x29,
  0x8000_0033,
  0x8000_0034,
];

const PROGRAM_SEGMENT = "__SUI";
const LINK_SEGMENT = "__LINKEDIT";
const SENTINEL = new TextEncoder().encode("<~sui-data~>");

/** The size of a page of the platform whose runtime carries no signature. */
const INTEL_PAGE_BYTES = 0x1000;

/** The result of {@link cutMachO}. */
export type MachOCut =
  | { readonly kind: "cut"; readonly runtime: Uint8Array }
  | {
    readonly kind: "not-compiled";
    /** The mark that is missing, as the end of "the file ...". */
    readonly because: string;
  };

/** One load command. */
interface LoadCommand {
  readonly at: number;
  readonly bytes: number;
  readonly type: number;
}

/** Whether a file starts like a 64-bit Mach-O file. */
export function isMachO(start: Uint8Array): boolean {
  return start.length >= 4 && view(start).getUint32(0, true) === MAGIC_64;
}

/** The load commands of a Mach-O file, or `undefined` when they reach beyond it. */
export function loadCommands(file: Uint8Array): readonly LoadCommand[] | undefined {
  if (file.length < HEADER_BYTES || !isMachO(file)) return undefined;
  const data = view(file);
  const count = data.getUint32(16, true);
  const commands: LoadCommand[] = [];
  let at = HEADER_BYTES;
  for (let index = 0; index < count; index++) {
    if (at + 8 > file.length) return undefined;
    const bytes = data.getUint32(at + 4, true);
    if (bytes < 8 || at + bytes > file.length) return undefined;
    commands.push({ at, bytes, type: data.getUint32(at, true) });
    at += bytes;
  }
  return commands;
}

/** The segment of a name, or `undefined`. */
export function segmentNamed(file: Uint8Array, name: string): LoadCommand | undefined {
  return loadCommands(file)?.find((command) =>
    command.type === COMMAND.segment && segmentName(file, command) === name
  );
}

/** Where a segment lies in the file. */
export function segmentExtent(
  file: Uint8Array,
  segment: LoadCommand,
): { readonly offset: number; readonly bytes: number } {
  const data = view(file);
  return {
    offset: Number(data.getBigUint64(segment.at + 40, true)),
    bytes: Number(data.getBigUint64(segment.at + 48, true)),
  };
}

/** The runtime of a compiled executable, as new bytes. Takes the program's place out of a copy. */
export function cutMachO(compiled: Uint8Array): MachOCut {
  if (loadCommands(compiled) === undefined) {
    return { kind: "not-compiled", because: "does not start like a Mach-O file" };
  }
  const link = segmentNamed(compiled, LINK_SEGMENT);
  if (link === undefined) {
    return { kind: "not-compiled", because: "has no link-edit segment" };
  }
  const segment = segmentNamed(compiled, PROGRAM_SEGMENT);
  if (segment !== undefined) {
    return { kind: "cut", runtime: withoutSignature(withoutSegment(compiled, segment)) };
  }
  // The program may hold the same words: the first ones behind the runtime's own tables count.
  const sentinel = Buffer.from(compiled.buffer, compiled.byteOffset, compiled.length)
    .indexOf(SENTINEL, segmentExtent(compiled, link).offset);
  if (sentinel < 0) {
    return { kind: "not-compiled", because: "holds no program of Deno's" };
  }
  return { kind: "cut", runtime: endedAt(compiled, sentinel) };
}

/** Takes a segment out of the file and moves what lies behind it, and all that points there. */
function withoutSegment(compiled: Uint8Array, segment: LoadCommand): Uint8Array {
  const { offset, bytes } = segmentExtent(compiled, segment);
  const file = new Uint8Array(compiled.length - bytes);
  file.set(compiled.subarray(0, offset));
  file.set(compiled.subarray(offset + bytes), offset);
  const data = view(file);
  const commands = loadCommands(compiled) ?? [];
  for (const command of commands) moveOffsets(file, command, bytes);
  const end = commands.reduce((last, each) => Math.max(last, each.at + each.bytes), HEADER_BYTES);
  file.copyWithin(segment.at, segment.at + segment.bytes, end);
  file.fill(0, end - segment.bytes, end);
  data.setUint32(16, data.getUint32(16, true) - 1, true);
  data.setUint32(20, data.getUint32(20, true) - segment.bytes, true);
  return file;
}

function moveOffsets(file: Uint8Array, { at, type }: LoadCommand, bytes: number): void {
  const data = view(file);
  const back = (offset: number): void => {
    const value = data.getUint32(at + offset, true);
    if (value !== 0) data.setUint32(at + offset, value - bytes, true);
  };
  const backWide = (offset: number): void => {
    data.setBigUint64(at + offset, data.getBigUint64(at + offset, true) - BigInt(bytes), true);
  };
  if (type === COMMAND.segment && segmentName(file, { at }) === LINK_SEGMENT) {
    [24, 40].forEach(backWide);
  } else if (type === COMMAND.dyldInfo) [8, 16, 24, 32, 40].forEach(back);
  else if (type === COMMAND.symbols) [8, 16].forEach(back);
  else if (type === COMMAND.dynamicSymbols) [32, 40, 48, 56, 64, 72].forEach(back);
  else if (LINKED_DATA.includes(type)) back(8);
}

/** Ends the file where its signature begins. */
function withoutSignature(file: Uint8Array): Uint8Array {
  const signature = loadCommands(file)?.find(({ type }) => type === COMMAND.codeSignature);
  if (signature === undefined) return file;
  const data = view(file);
  const offset = data.getUint32(signature.at + 8, true);
  data.setUint32(signature.at + 12, 0, true);
  resizeLinkSegment(file, offset, 1);
  return file.slice(0, offset);
}

/** Ends the file, and the string table that was lengthened over the program, at `offset`. */
function endedAt(compiled: Uint8Array, offset: number): Uint8Array {
  const file = compiled.slice(0, offset);
  const data = view(file);
  const symbols = loadCommands(file)?.find(({ type }) => type === COMMAND.symbols);
  if (symbols !== undefined) {
    data.setUint32(symbols.at + 20, offset - data.getUint32(symbols.at + 16, true), true);
  }
  resizeLinkSegment(file, offset, INTEL_PAGE_BYTES);
  return file;
}

function resizeLinkSegment(file: Uint8Array, end: number, pageBytes: number): void {
  const segment = segmentNamed(file, LINK_SEGMENT);
  if (segment === undefined) return;
  const data = view(file);
  const bytes = end - Number(data.getBigUint64(segment.at + 40, true));
  data.setBigUint64(segment.at + 48, BigInt(bytes), true);
  const inMemory = Math.ceil(bytes / pageBytes) * pageBytes;
  data.setBigUint64(segment.at + 32, BigInt(inMemory), true);
}

function segmentName(file: Uint8Array, { at }: Pick<LoadCommand, "at">): string {
  return new TextDecoder().decode(file.subarray(at + 8, at + 24)).replace(/\0+$/, "");
}

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
