/**
 * The runtime is cut only where every mark of the format is in place.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { checkRuntimeOf, cutRuntime } from "../../src/build/cut_runtime.ts";
import { findPayload } from "../../src/build/elf_payload.ts";
import { matchesPin } from "../../src/build/file_hash.ts";
import { type SyntheticElf, syntheticElf } from "./_synthetic_elf.ts";
import { tempFolder } from "./_temp_folder.ts";

Deno.test("findPayload: finds the end of the runtime in a compiled file", () => {
  using folder = tempFolder();
  const elf = syntheticElf();
  const path = folder.write("compiled", elf.bytes);
  assertEquals(findPayload(path), { kind: "found", runtimeBytes: elf.payload });
});

const BREAKS: ReadonlyArray<{
  readonly of: string;
  readonly because: string;
  readonly change: (elf: SyntheticElf) => Uint8Array;
}> = [
  {
    of: "an empty file",
    because: "is too short",
    change: () => new Uint8Array(),
  },
  {
    of: "a file cut off in its payload",
    because: "trailer's magic number",
    change: ({ bytes }) => bytes.subarray(0, -9),
  },
  {
    of: "a bare runtime",
    because: "trailer's magic number",
    change: ({ bytes, payload }) => bytes.subarray(0, payload),
  },
  {
    of: "a file that is no ELF file",
    because: "does not start like an ELF file",
    change: ({ bytes }) => changed(bytes, 1, 0x46),
  },
  {
    of: "another magic number",
    because: "trailer's magic number",
    change: ({ bytes, trailer }) => changed(bytes, trailer, 0x1f),
  },
  {
    of: "another section hash",
    because: "another section",
    change: ({ bytes, trailer }) => changed(bytes, trailer + 4, 0xa8),
  },
  {
    of: "a payload length of nothing",
    because: "impossible payload length",
    change: ({ bytes, trailer }) => withLength(bytes, trailer, 32n),
  },
  {
    of: "a payload longer than the file",
    because: "impossible payload length",
    change: ({ bytes, trailer }) => withLength(bytes, trailer, BigInt(bytes.length)),
  },
  {
    of: "a payload length beyond any number",
    because: "impossible payload length",
    change: ({ bytes, trailer }) => withLength(bytes, trailer, 0xffff_ffff_ffff_ffffn),
  },
  {
    of: "a payload length that points elsewhere",
    because: "mark at the payload's start",
    change: ({ bytes, trailer, payload }) =>
      withLength(bytes, trailer, BigInt(bytes.length - payload - 1)),
  },
  {
    of: "a payload without its first mark",
    because: "mark at the payload's start",
    change: ({ bytes, payload }) => changed(bytes, payload + 7, 0x65),
  },
  {
    of: "a payload without its last mark",
    because: "mark at the payload's end",
    change: ({ bytes, trailer }) => changed(bytes, trailer - 1, 0x65),
  },
  {
    of: "a section table that ends elsewhere",
    because: "section table",
    change: ({ bytes }) => changed(bytes, 0x3c, 4),
  },
];

for (const { of, because, change } of BREAKS) {
  Deno.test(`findPayload: refuses ${of}`, () => {
    using folder = tempFolder();
    const path = folder.write("compiled", change(syntheticElf()));
    const search = findPayload(path);
    assertStringIncludes(search.kind === "not-compiled" ? search.because : "", because);
  });
}

Deno.test("cutRuntime: leaves the runtime alone, executable for all", async () => {
  using folder = tempFolder();
  const elf = syntheticElf();
  const path = folder.write("compiled", elf.bytes, 0o600);
  assertEquals(await cutRuntime(path, elf.pin), { kind: "pinned" });
  assertEquals(Deno.readFileSync(path), elf.bytes.slice(0, elf.payload));
  assertEquals((Deno.statSync(path).mode ?? 0) & 0o777, 0o755);
});

Deno.test("cutRuntime: leaves a file with another runtime as it is", async () => {
  using folder = tempFolder();
  const elf = syntheticElf();
  const path = folder.write("compiled", elf.bytes);
  const other = await cutRuntime(path, syntheticElf("THE CODE").pin);
  assertStringIncludes(other.kind === "foreign" ? other.because : "", elf.pin.sha256);
  assertEquals(Deno.readFileSync(path), elf.bytes);
});

Deno.test("checkRuntimeOf: refuses a runtime of another length", async () => {
  using folder = tempFolder();
  const path = folder.write("compiled", syntheticElf().bytes);
  const check = await checkRuntimeOf(path, syntheticElf("longer code than that").pin);
  assertStringIncludes(check.kind === "foreign" ? check.because : "", "bytes, not");
});

Deno.test("matchesPin: takes the exact file and nothing else", async () => {
  using folder = tempFolder();
  const { bytes, payload, pin } = syntheticElf();
  const runtime = bytes.slice(0, payload);
  const results = [
    await matchesPin(folder.write("exact", runtime), pin),
    await matchesPin(folder.write("longer", bytes), pin),
    await matchesPin(folder.write("changed", changed(runtime, 64, 0x20)), pin),
    await matchesPin(`${folder.path}/absent`, pin),
    await matchesPin(folder.path, pin),
  ];
  assertEquals(results, [true, false, false, false, false]);
});

function changed(bytes: Uint8Array, offset: number, value: number): Uint8Array {
  const copy = bytes.slice();
  copy[offset] = value;
  return copy;
}

function withLength(bytes: Uint8Array, trailer: number, length: bigint): Uint8Array {
  const copy = bytes.slice();
  new DataView(copy.buffer).setBigUint64(trailer + 8, length, true);
  return copy;
}
