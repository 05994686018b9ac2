/**
 * What is left of a compiled Mach-O file is the runtime, whatever program was in it.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { cutMachO, type MachOCut } from "../../src/build/macho.ts";
import { checkSignature } from "../../src/build/macho_signature.ts";
import { syntheticRuntime, withAppendedProgram, withProgramSegment } from "./_synthetic_macho.ts";

const PROGRAMS = ["d3n0l4nd a program d3n0l4nd", "another, <~sui-data~> in its text"].map((text) =>
  new TextEncoder().encode(text)
);

function runtimeOf(cut: MachOCut): Uint8Array {
  assert(cut.kind === "cut", JSON.stringify(cut));
  return cut.runtime;
}

Deno.test("cutMachO: takes a program's segment and the signature out, whatever the program", () => {
  const expected = syntheticRuntime(true);
  for (const program of PROGRAMS) {
    assertEquals(runtimeOf(cutMachO(withProgramSegment(program))), expected);
  }
});

Deno.test("cutMachO: takes an appended program off, and the string table back", () => {
  const [first, second] = PROGRAMS.map((program) =>
    runtimeOf(cutMachO(withAppendedProgram(program)))
  );
  assertEquals(first, second);
  const size = new DataView(syntheticRuntime(false).buffer).getUint32(32 + 72 + 20, true);
  assertEquals(
    new DataView(first?.buffer ?? new ArrayBuffer(0)).getUint32(32 + 72 + 20, true),
    size,
  );
  assertEquals(first?.length, syntheticRuntime(false).length);
});

for (
  const [what, file, because] of [
    [
      "a file of another kind",
      new TextEncoder().encode("#!/bin/sh\n"),
      "does not start like a Mach-O file",
    ],
    ["a runtime without a program", syntheticRuntime(true), "holds no program of Deno's"],
    ["a torn header", syntheticRuntime(true).slice(0, 60), "does not start like a Mach-O file"],
  ] as const
) {
  Deno.test(`cutMachO: refuses ${what}`, () => {
    assertEquals(cutMachO(file), { kind: "not-compiled", because });
  });
}

Deno.test("checkSignature: tells an unsigned file from a broken signature", () => {
  assertEquals(checkSignature(syntheticRuntime(false)), { kind: "unsigned" });
  const broken = checkSignature(withProgramSegment(new Uint8Array(8)));
  assertEquals(broken, { kind: "broken", because: "does not start like one" });
});
