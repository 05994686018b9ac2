/**
 * Errors of the build fit a terminal and keep what they must not break.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { BuildFailure, saysDiskFull } from "../../src/build/failure.ts";
import { wrap } from "../../src/build/wrap.ts";

Deno.test("BuildFailure: says what is wrong, what stands and what to do in 80 columns", () => {
  const failure = new BuildFailure({
    wrong: "Something that takes a long time to explain is wrong with the build.",
    untouched: "The executable of an earlier build is as it was.",
    advice: "Do this, and when it does not help, do that.",
    output: "line one\nline two\n",
  });
  const lines = failure.describe().split("\n");
  assertEquals(lines.filter((line) => line.length > 80), []);
  assertStringIncludes(lines[0] ?? "", "error: Something");
  assertEquals(lines.slice(-3), ["", "  line one", "  line two"]);
});

Deno.test("wrap: leaves a word longer than a line whole", () => {
  const path = `/${"x".repeat(100)}`;
  assertEquals(wrap(`the file ${path} is odd`, "  "), `the file\n  ${path}\n  is odd`);
});

Deno.test("saysDiskFull: knows a full disk from other failures", () => {
  const errors = [
    new Error("No space left on device (os error 28)"),
    "write ENOSPC",
    "Disk quota exceeded (os error 122)",
    new Error("Permission denied (os error 13)"),
    "os error 2",
  ];
  assertEquals(errors.map(saysDiskFull), [true, true, true, false, false]);
});
