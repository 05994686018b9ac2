/**
 * A small file with the parts of a Mach-O executable that the build looks at.
 *
 * @module
 */

const HEADER = 32;
const SEGMENT = 72;
const SYMBOLS = 24;
const SIGNATURE = 16;
const CODE = new TextEncoder().encode("the runtime's own code, left alone");
const TABLES = new TextEncoder().encode("symbols and strings.");

/** A runtime without a program, as Deno's vendor would publish it, unsigned. */
export function syntheticRuntime(signed: boolean): Uint8Array {
  return assemble({ program: undefined, signature: signed ? new Uint8Array(0) : undefined });
}

/** The same runtime with a program in a segment of its own, and a signature. */
export function withProgramSegment(program: Uint8Array): Uint8Array {
  return assemble({ program, signature: new TextEncoder().encode("signed by nobody") });
}

/** The same runtime, unsigned, with a program behind a sentinel. */
export function withAppendedProgram(program: Uint8Array): Uint8Array {
  const runtime = syntheticRuntime(false);
  const mark = new TextEncoder().encode("<~sui-data~>");
  const file = new Uint8Array(runtime.length + mark.length + 12 + program.length);
  file.set(runtime);
  file.set(mark, runtime.length);
  file.set(program, runtime.length + mark.length + 12);
  const data = new DataView(file.buffer);
  data.setUint32(runtime.length + mark.length, 0xdead_beef, true);
  data.setBigUint64(runtime.length + mark.length + 4, BigInt(program.length), true);
  const link = HEADER;
  const tables = Number(data.getBigUint64(link + 40, true));
  data.setBigUint64(link + 32, BigInt(file.length - tables), true);
  data.setBigUint64(link + 48, BigInt(file.length - tables), true);
  data.setUint32(link + SEGMENT + 20, file.length - tables, true);
  return file;
}

function assemble(
  parts: { readonly program: Uint8Array | undefined; readonly signature: Uint8Array | undefined },
): Uint8Array {
  const { program, signature } = parts;
  const commands = (program === undefined ? 0 : SEGMENT) + SEGMENT + SYMBOLS +
    (signature === undefined ? 0 : SIGNATURE);
  // Room for a command more, as a linker leaves it.
  const codeAt = HEADER + SEGMENT + commands;
  const start = program === undefined ? codeAt : codeAt - SEGMENT;
  const programAt = start + CODE.length;
  const tablesAt = programAt + (program?.length ?? 0);
  const file = new Uint8Array(tablesAt + TABLES.length + (signature?.length ?? 0));
  const data = new DataView(file.buffer);
  data.setUint32(0, 0xfeed_facf, true);
  data.setUint32(16, 2 + (program === undefined ? 0 : 1) + (signature === undefined ? 0 : 1), true);
  data.setUint32(20, commands, true);
  let at = HEADER;
  if (program !== undefined) {
    at = segment(file, at, "__SUI", programAt, program.length);
    file.set(program, programAt);
  }
  at = segment(file, at, "__LINKEDIT", tablesAt, file.length - tablesAt);
  data.setUint32(at, 2, true);
  data.setUint32(at + 4, SYMBOLS, true);
  data.setUint32(at + 8, tablesAt, true);
  data.setUint32(at + 16, tablesAt, true);
  data.setUint32(at + 20, TABLES.length, true);
  at += SYMBOLS;
  if (signature !== undefined) {
    data.setUint32(at, 0x1d, true);
    data.setUint32(at + 4, SIGNATURE, true);
    data.setUint32(at + 8, tablesAt + TABLES.length, true);
    data.setUint32(at + 12, signature.length, true);
    file.set(signature, tablesAt + TABLES.length);
  }
  file.set(CODE, start);
  file.set(TABLES, tablesAt);
  return file;
}

function segment(
  file: Uint8Array,
  at: number,
  name: string,
  offset: number,
  bytes: number,
): number {
  const data = new DataView(file.buffer);
  data.setUint32(at, 0x19, true);
  data.setUint32(at + 4, SEGMENT, true);
  file.set(new TextEncoder().encode(name), at + 8);
  data.setBigUint64(at + 24, BigInt(offset), true);
  data.setBigUint64(at + 32, BigInt(bytes), true);
  data.setBigUint64(at + 40, BigInt(offset), true);
  data.setBigUint64(at + 48, BigInt(bytes), true);
  return at + SEGMENT;
}
