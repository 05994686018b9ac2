/** What is kept of an arm's output. */

import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { ArmOutput, collectLines } from "../../src/watch/arm_output.ts";

function outputOf(...lines: readonly string[]): ArmOutput {
  const output = new ArmOutput();
  for (const line of lines) output.add(line);
  return output;
}

async function collected(...chunks: readonly Uint8Array[]): Promise<ArmOutput> {
  const output = new ArmOutput();
  await collectLines(ReadableStream.from(chunks), output);
  return output;
}

const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

const numbered = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

Deno.test("ArmOutput: the first eight wakes, in order and unmodified", () => {
  assertEquals(outputOf(...numbered("signal: ", 20)).wakes, numbered("signal: ", 8));
  assertEquals(
    outputOf("x", "stale: a", "check: b", "heartbeat", "heartbeat: c", " signal: no", "heartbeats")
      .wakes,
    ["stale: a", "check: b", "heartbeat", "heartbeat: c"],
  );
});

Deno.test("ArmOutput: evidence is what speaks of the watcher, else the last words", () => {
  assertEquals(outputOf("x", "watcher: a", "y", "signal: b").evidence, ["watcher: a", "signal: b"]);
  assertEquals(
    outputOf(...numbered("watcher: ", 9)).evidence,
    numbered("watcher: ", 8),
  );
  assertEquals(
    outputOf(...numbered("line ", 20), "", "  ").evidence,
    numbered("line ", 20).slice(12),
  );
  assertEquals(outputOf("", " ").evidence, []);
});

Deno.test("collectLines: lines come whole however they were cut", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(30), { maxLength: 12 }), async (cuts) => {
      const whole = bytes("signal: é\nwatcher: a\n\nstale: no end");
      const edges = [0, ...cuts.toSorted((a, b) => a - b), whole.length];
      const chunks = edges.slice(1).map((end, index) => whole.slice(edges[index], end));
      assertEquals((await collected(...chunks)).wakes, ["signal: é", "stale: no end"]);
    }),
  );
});

Deno.test("collectLines: a line without an end is cut, not gathered", async () => {
  const output = await collected(
    bytes("signal: "),
    ...Array.from({ length: 100 }, () => bytes("x".repeat(1_000))),
    bytes("\nstale: a\n"),
  );
  assertEquals(output.wakes.map((line) => line.length), [4_096, 8]);
});
