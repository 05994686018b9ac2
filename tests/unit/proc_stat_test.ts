/**
 * The two files under `/proc/<pid>`, whatever a process calls itself.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { parseProcOutput } from "../../src/platform/proc_stat.ts";

/** What follows the name: state, parent, and as many numbers as every kernel writes. */
const REST = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 987654" + " 0".repeat(30);

const NAMES: readonly string[] = [
  "cat",
  "",
  " ",
  ")",
  "(",
  "a) S 9 (b",
  "two words",
  "line\nbreak",
  ")\n(",
  "kworker/u8:2-events_unbound",
  "\u00e9\u00e8",
];

const COMMAND_LINES: readonly string[] = [
  "cat\0",
  "",
  "sh\0-c\0echo ) 1 2 3\nexit\0",
  "\n\n",
  ") S 1 1 1 1\n",
];

Deno.test("parseProcOutput: neither name nor command line can move the boundary", () => {
  for (const name of NAMES) {
    for (const commandLine of COMMAND_LINES) {
      const record = parse(`4242 (${name}) ${REST}\n${commandLine}`);
      assertEquals(
        record,
        { name, state: "S", parent: 1, startTicks: "987654", commandLine },
        JSON.stringify([name, commandLine]),
      );
    }
  }
});

Deno.test("parseProcOutput: a process below pid 0 has no parent", () => {
  assertEquals(parse(`1 (init) ${REST.replace("S 1 ", "S 0 ")}\n`)?.parent, undefined);
});

Deno.test("parseProcOutput: everything that is no such output is nothing", () => {
  const torn = `4242 (cat) ${REST}\ncat\0`;
  const foreign = ["", "\n", "4242", "4242 (cat)", "4242 (cat) S 1 2\n", "cat: no such file\n"];
  for (const text of [...foreign, torn.slice(0, 40), torn.replace("987654", "98x654")]) {
    assertEquals(parse(text), undefined, JSON.stringify(text));
  }
});

Deno.test("parseProcOutput: any bytes are a record or nothing, and never an error", () => {
  const bytes = fc.uint8Array({ maxLength: 200 });
  fc.assert(fc.property(bytes, (value) => {
    const record = parseProcOutput(value);
    if (record !== undefined) assertEquals(/^[0-9]+$/.test(record.startTicks), true);
  }));
});

Deno.test("parseProcOutput: any name and command line come back as they were", () => {
  // The kernel cuts a name to 15 bytes.
  const names = fc.string({ unit: "grapheme-ascii", maxLength: 15 });
  fc.assert(fc.property(names, fc.string({ unit: "grapheme-ascii" }), (name, commandLine) => {
    const record = parse(`7 (${name}) ${REST}\n${commandLine}`);
    assertEquals([record?.name, record?.commandLine], [name, commandLine]);
  }));
});

interface TextRecord {
  readonly name: string;
  readonly state: string;
  readonly parent: number | undefined;
  readonly startTicks: string;
  readonly commandLine: string;
}

function parse(text: string): TextRecord | undefined {
  const record = parseProcOutput(new TextEncoder().encode(text));
  if (record === undefined) return undefined;
  return { ...record, commandLine: new TextDecoder().decode(record.commandLine) };
}
