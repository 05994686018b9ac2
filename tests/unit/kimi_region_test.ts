/** The region in Kimi's configuration: in and out to the byte, whatever TOML stands around it. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { parse } from "smol-toml";
import { withKimiRegion, withoutKimiRegion } from "../../src/harness/kimi/kimi_region.ts";

/** Files of each property: some at each run, thousands when everything is played. */
const FILES = Deno.env.get("TURNGUARD_FULL") === "1" ? 10_000 : 500;

const REGION = [
  "# BEGIN FIRSTMATE KIMI TURN-END HOOK",
  "[[hooks]]",
  'event = "Stop"',
  'matcher = "^$"',
  'command = "bash \\"$HOME/.kimi-code/fm-turn-end.sh\\" >/dev/null 2>&1 || true"',
  "timeout = 1",
  "# END FIRSTMATE KIMI TURN-END HOOK",
  "",
].join("\n");
const OWNING = `\n${REGION.replace("HOOK\n", "HOOK (OWNS PRECEDING NEWLINE)\n")}`;

function put(text: string): string {
  const result = withKimiRegion(text);
  assert(result.kind === "edited", JSON.stringify(result));
  return result.text;
}

function cut(text: string): string {
  const result = withoutKimiRegion(text);
  assert(result.kind === "edited", JSON.stringify(result));
  return result.text;
}

Deno.test("kimi region: its bytes, with a newline of its own where the file has none", () => {
  assertEquals(put("a = 1\n"), `a = 1\n${REGION}`);
  assertEquals(put("a = 1"), `a = 1${OWNING}`);
  assertEquals(put(""), OWNING);
  for (const text of ["a = 1\n", "a = 1", "", "# é"]) {
    assertEquals(put(put(text)), put(text));
    assertEquals(cut(put(text)), text);
    assertEquals(cut(text), text);
  }
  assertEquals(cut(`${put("a = 1")}[b]\n`), "a = 1\n[b]\n", "what was added since keeps its line");
  assertEquals(cut(`${put("a = 1\n")}[b]\n`), "a = 1\n[b]\n");
});

/** Configurations that are not edited, with the place and a phrase of the reason. */
const REFUSED: ReadonlyArray<readonly [text: string, line: number, phrase: string]> = [
  ["a = 1\nb =\n", 2, "malformed TOML"],
  ["a = 1\na = 2\n", 2, "malformed TOML"],
  ["\ufeffa = 1\n", 1, "malformed TOML"],
  ["a = {x = 1}\n[a.y]\n", 2, "malformed TOML"],
  ["[hooks]\na = 1\n", 1, "not an array"],
  ["a = 1\nhooks = []\n", 2, "malformed TOML"],
  [REGION.replace(/# END.*\n/, ""), 1, "partial, duplicated, or altered"],
  [REGION + REGION, 1, "partial, duplicated, or altered"],
  [REGION.replace("END FIRSTMATE", "END  FIRSTMATE"), 1, "partial, duplicated, or altered"],
  ["# FIRSTMATE KIMI TURN-END HOOK\n", 1, "partial, duplicated, or altered"],
  [`a = 1 ${REGION}`, 1, "does not start its line"],
  [`${REGION.trimEnd()} x\n`, 7, "not a line of its own"],
  [OWNING.slice(1), 1, "lacks the newline"],
  ['a = "fm-turn-end.sh"\n', 1, "outside"],
  [`${REGION}# fm-turn-end.sh\n`, 8, "outside"],
];

for (const [text, line, phrase] of REFUSED) {
  Deno.test(`kimi region: ${JSON.stringify(text.slice(0, 40))} is refused: ${phrase}`, () => {
    const result = withKimiRegion(text);
    assert(result.kind === "refused", JSON.stringify(result));
    assertStringIncludes(result.because, phrase);
    assertEquals(result.at.line, line);
  });
}

const blank = fc.constantFrom("", " ", "\t", "  ");
const end = fc.tuple(
  blank,
  fc.constantFrom("", '# note = ["', "# é"),
  fc.constantFrom("\n", "\r\n"),
)
  .map((parts) => parts.join(""));
const value = fc.constantFrom(
  "1",
  "-0.5e3",
  "true",
  '"a # b"',
  "'[x]'",
  '"""\n[[hooks]]\n"""',
  "[1, # one\n 2,\n]",
  "{ x = 1, y = 'z' }",
  "1979-05-27T07:32:00Z",
  "9223372036854775807",
);
const line = fc.tuple(blank, blank, value, end);

/** Lines with keys that no other line has. */
function lines(prefix: string): fc.Arbitrary<string> {
  return fc.array(line, { maxLength: 3 }).map((all) =>
    all.map(([before, gap, text, after], index) =>
      `${before}${prefix}${index}${gap}=${gap}${text}${after}`
    ).join("")
  );
}

const hook = fc.tuple(end, lines("k")).map(([after, body]) => `[[hooks]]${after}${body}`);
const table = fc.tuple(end, lines("k")).map(([after, body]) => (name: string) =>
  `[${name}]${after}${body}`
);
const config = fc.tuple(
  fc.constantFrom("", "\n", "# head\r\n"),
  lines("top"),
  fc.array(fc.oneof(hook, table), { maxLength: 4 }),
  fc.constantFrom("", "\n", "\n\n", "# tail", "# tail\r\n", 'last."x y" = 1'),
).map(([head, top, parts, tail]) =>
  `${head}${top}${
    parts.map((part, index) => typeof part === "string" ? part : part(`t${index}."é"`)).join("")
  }${tail}`
);

function read(text: string): Record<string, unknown> {
  return parse(text, { integersAsBigInt: true });
}

Deno.test("kimi region: what is put in can be cut out again, to the byte, and Kimi's parser reads it", () => {
  fc.assert(
    fc.property(config, (text) => {
      const before = read(text);
      const after = put(text);
      assert(after.startsWith(text));
      assertEquals(put(after), after);
      assertEquals(cut(after), text);
      const { hooks, ...others } = read(after);
      const { hooks: old = [], ...rest } = before;
      assert(Array.isArray(hooks) && Array.isArray(old));
      assertEquals(others, rest);
      assertEquals(hooks.slice(0, -1), old);
      assertEquals(hooks.at(-1)?.event, "Stop");
    }),
    { numRuns: FILES },
  );
});

Deno.test("kimi region: what is added behind it since stays", () => {
  fc.assert(
    fc.property(config, (text) => {
      const added = "\n[added]\nx = 1\n";
      const [first, joint] = [put(text), text.endsWith("\n") ? "" : "\n"];
      assertEquals(cut(`${first}${added}`), `${text}${joint}${added}`);
    }),
    { numRuns: FILES },
  );
});
