import { assertEquals } from "@std/assert";
import type { ModeSpec } from "../../src/modes/mode.ts";
import { parseArguments } from "../../src/modes/parse.ts";

const MODE: ModeSpec = {
  name: "example",
  kind: "person",
  summary: "",
  maximumOperands: 1,
  flags: [
    { name: "root", value: "DIR", summary: "" },
    { name: "note", value: "TEXT", summary: "", mayBeEmpty: true },
    { name: "json", summary: "" },
    { name: "json-lines", summary: "" },
  ],
  startsPrograms: false,
  run: () => Promise.resolve(0),
};

/** Words, and what they come to: flags, operands and the rest, or a complaint. */
const CALLS: readonly (readonly [words: readonly string[], outcome: string])[] = [
  [["--json", "a"], "json=true|a|"],
  [["--root=/x", "--note="], "note= root=/x||"],
  [["--json-lines"], "json-lines=true||"],
  [["a", "--", "--json=1"], "|a|--json=1"],
  [["--json=1"], "--json takes no value"],
  [["--json=true"], "--json takes no value"],
  [["--json=false", "a"], "--json takes no value"],
  [["--json="], "--json takes no value"],
  [["--json-lines=x"], "--json-lines takes no value"],
  [["--root"], "--root needs one DIR"],
  [["a", "b"], 'unexpected word "b"'],
  [["--nope=1"], 'unknown flag "--nope=1"'],
  [["--help"], "help"],
];

Deno.test("parseArguments: flags have values or are switches, and never the other", () => {
  for (const [words, outcome] of CALLS) assertEquals(outcomeOf(words), outcome, words.join(" "));
});

function outcomeOf(words: readonly string[]): string {
  const parsed = parseArguments(MODE, words);
  if (parsed.kind === "help") return "help";
  if (parsed.kind === "usage") return parsed.message;
  const flags = [...parsed.flags].map(([name, value]) => `${name}=${value}`);
  return [flags, parsed.operands, parsed.rest].map((part) => part.join(" ")).join("|");
}
