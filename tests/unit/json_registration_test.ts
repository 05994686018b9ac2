/** Editing hook files in place: what is ours goes in and out, what is not stays to the byte. */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { type EditMemory, NO_MEMORY } from "../../src/harness/registration/edit_memory.ts";
import { insertHooks, type Insertion } from "../../src/harness/registration/insert_hooks.ts";
import { decodeJson, parseJson } from "../../src/harness/registration/json_text.ts";
import type { HookEntry, OwnEntry } from "../../src/harness/registration/own_hooks.ts";
import { EMPTY_HOOK_FILE } from "../../src/harness/registration/registration.ts";
import { type Removal, removeHooks } from "../../src/harness/registration/remove_hooks.ts";

const TOKEN = "turnguard:test";
const OURS: HookEntry = { type: "command", command: `: ${TOKEN}; exec 'x'`, timeout: 30 };
const OLD = `{ "type": "command", "command": ": ${TOKEN}; exec 'old'" }`;

const ONE: readonly OwnEntry[] = [{ token: TOKEN, entry: OURS }];
const SECOND = "turnguard:second";
const SECOND_ENTRY: HookEntry = { type: "command", command: `: ${SECOND}; exec 'y'`, async: true };
const TWO: readonly OwnEntry[] = [...ONE, { token: SECOND, entry: SECOND_ENTRY }];

function insertion(text: string, entries = ONE, replaceReferences = false): Insertion {
  const groups = [{ event: "Stop", entries }];
  return insertHooks(text, { shape: "groups", groups, replaceReferences });
}

function insert(text: string, entries = ONE): string {
  const result = insertion(text, entries);
  if (result.kind === "edited" && result.how !== "none") return result.text;
  throw new Error(`not changed: ${JSON.stringify(result)}`);
}

/** How it went, for a text that is not refused. */
function howOf(result: Insertion): string {
  return result.kind === "refused" ? `refused: ${result.because}` : result.how;
}

function removal(text: string, entries = ONE, memory: EditMemory = NO_MEMORY): Removal {
  return removeHooks(text, "groups", entries.map(({ token }) => token), memory);
}

function remove(text: string, entries = ONE): string {
  const result = removal(text, entries);
  if (result.kind === "edited" && result.count > 0) return result.text;
  throw new Error(`not changed: ${JSON.stringify(result)}`);
}

const ENTRY_LINES = [
  "{",
  '  "hooks": [',
  "    {",
  '      "type": "command",',
  `      "command": ": ${TOKEN}; exec 'x'",`,
  '      "timeout": 30',
  "    }",
  "  ]",
  "}",
];
const IN_LINE = `{"hooks":[{"type":"command","command":": ${TOKEN}; exec 'x'","timeout":30}]}`;
const IN_LINE_SPACED =
  `{"hooks": [{"type": "command", "command": ": ${TOKEN}; exec 'x'", "timeout": 30}]}`;

/** Our group, indented by `indent`, with `unit` for each level. */
function group(indent: string, unit = "  ", newline = "\n"): string {
  return ENTRY_LINES
    .map((line) => line.replace(/^(?: {2})*/, (spaces) => unit.repeat(spaces.length / 2)))
    .join(`${newline}${indent}`);
}

const LAYOUTS: ReadonlyArray<readonly [name: string, before: string, after: string]> = [
  [
    "a file without anything",
    EMPTY_HOOK_FILE,
    `{\n  "hooks": {\n    "Stop": [\n      ${group("      ")}\n    ]\n  }\n}\n`,
  ],
  [
    "no final newline",
    "{}",
    `{\n  "hooks": {\n    "Stop": [\n      ${group("      ")}\n    ]\n  }\n}`,
  ],
  [
    "another member",
    '{\n  "a": 1\n}\n',
    `{\n  "a": 1,\n  "hooks": {\n    "Stop": [\n      ${group("      ")}\n    ]\n  }\n}\n`,
  ],
  [
    "another event, four spaces",
    '{\n    "hooks": {\n        "X": []\n    }\n}\n',
    `{\n    "hooks": {\n        "X": [],\n        "Stop": [\n            ${
      group("            ", "    ")
    }\n        ]\n    }\n}\n`,
  ],
  [
    "another group, tabs",
    '{\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{ "hooks": [] }\n\t\t],\n\t\t"X": []\n\t}\n}\n',
    `{\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{ "hooks": [] },\n\t\t\t${
      group("\t\t\t", "\t")
    }\n\t\t],\n\t\t"X": []\n\t}\n}\n`,
  ],
  [
    "CRLF",
    '{\r\n  "hooks": {\r\n    "Stop": [\r\n      {}\r\n    ]\r\n  }\r\n}\r\n',
    `{\r\n  "hooks": {\r\n    "Stop": [\r\n      {},\r\n      ${
      group("      ", "  ", "\r\n")
    }\r\n    ]\r\n  }\r\n}\r\n`,
  ],
  [
    "brackets that hug their content",
    '{\n  "hooks": {\n    "Stop": [{\n      "matcher": ""\n    }]\n  }\n}\n',
    `{\n  "hooks": {\n    "Stop": [{\n      "matcher": ""\n    }, ${group("    ")}]\n  }\n}\n`,
  ],
  [
    "an array on one line",
    '{\n  "hooks": {\n    "Stop": [{ "hooks": [] }]\n  }\n}\n',
    `{\n  "hooks": {\n    "Stop": [{ "hooks": [] }, ${IN_LINE_SPACED}]\n  }\n}\n`,
  ],
  ["a minified file", '{"hooks":{"Stop":[{}]},"a":1}', `{"hooks":{"Stop":[{},${IN_LINE}]},"a":1}`],
  [
    "a file on one line",
    '{"a": 1, "b": {}}\n',
    `{"a": 1, "b": {}, "hooks": {"Stop": [${IN_LINE_SPACED}]}}\n`,
  ],
  [
    "keys written with escapes",
    '{"\\u0068ooks":{"St\\u006fp":[{}]}}',
    `{"\\u0068ooks":{"St\\u006fp":[{},${IN_LINE}]}}`,
  ],
];

for (const [name, before, after] of LAYOUTS) {
  Deno.test(`insertHooks: ${name} keeps its layout`, () => {
    assertEquals(insert(before), after);
    assertEquals(removal(after), { kind: "edited", text: before, count: 1 });
  });

  Deno.test(`insertHooks: ${name} is unchanged the second time`, () => {
    assertEquals(howOf(insertion(after)), "none");
  });
}

Deno.test("insertHooks: an equal entry counts whatever its layout and key order", () => {
  const { type, command, timeout } = OURS;
  const text = JSON.stringify({ hooks: { Stop: [{ hooks: [{ timeout, command, type }] }] } });
  assertEquals(howOf(insertion(text)), "none");
});

Deno.test("insertHooks: a different entry of ours is replaced where it stands", () => {
  const text = `{"hooks":{"Stop":[{"hooks":[{"a":1},${OLD},{"b":2}]},{"c":3}]}}`;
  const ours = JSON.stringify(OURS);
  const result = insertion(text);
  assertEquals(howOf(result), "updated");
  assertEquals(insert(text), text.replace(OLD, () => ours));
});

Deno.test("insertHooks: our entry under another event does not count", () => {
  assertEquals(howOf(insertion(`{"hooks":{"Other":[{"hooks":[${OLD}]}]}}`)), "added");
});

Deno.test("insertHooks: an entry of the shell suite is left alone and reported with its place", () => {
  const text = '{"hooks":{"Stop":[\n {"hooks":[{"command":"x/fm-turnend-guard.sh --a"}]}]}}';
  const references = [{ line: 2, column: 12 }];
  const guard = ONE.map((each) => ({ ...each, replaces: ["fm-turnend-guard.sh"] }));
  assertEquals(
    insertion(text, guard),
    { kind: "edited", how: "none", text, memory: NO_MEMORY, references },
  );
});

Deno.test("insertHooks: a missing entry joins the group of the one that is there", () => {
  const [first, second] = TWO.map(({ entry }) => JSON.stringify(entry));
  const rest = '{"c":3}';
  assertEquals(
    insert(`{"hooks":{"Stop":[{"hooks":[{"a":1},${first},{"b":2}]},${rest}]}}`, TWO),
    `{"hooks":{"Stop":[{"hooks":[{"a":1},${first},{"b":2},${second}]},${rest}]}}`,
  );
  assertEquals(
    insert(`{"hooks":{"Stop":[{"hooks":[${second}]},${rest}]}}`, TWO),
    `{"hooks":{"Stop":[{"hooks":[${second},${first}]},${rest}]}}`,
  );
});

Deno.test("insertHooks: two of ours are replaced each where it stands, in groups of their own", () => {
  const [first, second] = TWO.map(({ entry }) => JSON.stringify(entry));
  const old = JSON.stringify({ command: `: ${SECOND}; old` });
  const file = (one?: string, two?: string): string =>
    `{"hooks":{"Stop":[{"hooks":[${one}]},{"matcher":"","hooks":[${two},{"b":2}]}]}}`;
  assertEquals(insert(file(OLD, old), TWO), file(first, second));
  assertEquals(insert(file(first, old), TWO), file(first, second));
  assertEquals(howOf(insertion(file(first, second), TWO)), "none");
});

Deno.test("insertHooks: of two entries too, a second one of a kind is refused", () => {
  const [first, second] = TWO.map(({ entry }) => JSON.stringify(entry));
  const text = `{"hooks":{"Stop":[{"hooks":[${second},${first},\n${second}]}]}}`;
  const at = { line: 2, column: 1 };
  const because = "has a second entry of ours here";
  assertEquals(insertion(text, TWO), { kind: "refused", because, at });
});

/** A hook file with these groups for the event. */
function inStop(groups: string): string {
  return `{"hooks":{"Stop":${groups}}}`;
}

/** A file, the line and column at which it is refused, and why. */
const REFUSED: ReadonlyArray<readonly [name: string, text: string, refusal: string]> = [
  ["an empty file", "", "1:1 is empty"],
  ["white space alone", " \n", "1:1 is empty"],
  ["a comment without an end", '{ "a": 1 /* x }', "1:10 has a comment here that does not end"],
  ["a comma alone", '{"a": [,]}', "1:8 lacks a value here"],
  ["two commas at the end", '{"é": 1,,\n}', "1:9 lacks a property name here"],
  ["a missing comma", '{"a": 1 "b": 2}', "1:9 lacks a comma here"],
  ["a missing brace", '{"a": 1', "1:8 lacks a closing brace here"],
  ["a second value", "{} {}", "1:4 goes on here after its JSON value has ended"],
  ["a bare word", '{"a": nul}', "1:7 has a word here that JSON does not know"],
  [
    "a merge conflict",
    '{\n<<<<<<< ours\n  "a": 1\n=======\n  "a": 2\n>>>>>>> theirs\n}\n',
    "2:1 has a merge conflict marker here",
  ],
  ["an array", "[]", "1:1 is not an object"],
  ["a string", '"hooks"', "1:1 is not an object"],
  ["hooks as an array", '{"hooks": []}', '1:11 has a "hooks" here that is not an object'],
  ["hooks as null", '{"hooks": null}', '1:11 has a "hooks" here that is not an object'],
  ["Stop as an object", '{"hooks":{\n"Stop": {}}}', '2:9 has a "Stop" here that is not an array'],
  ["a group as text", inStop('["x"]'), "1:19 has a group here that is not an object"],
  [
    "a group's hooks as text",
    inStop('[{"hooks":"x"}]'),
    '1:28 has a "hooks" here that is not an array',
  ],
  ["an entry as text", inStop('[{"hooks":["x"]}]'), "1:29 has an entry here that is not an object"],
  ["hooks twice", '{"hooks":{},"hooks":{}}', '1:13 has "hooks" a second time here'],
  ["the event twice", inStop('[],"Stop":[]'), '1:21 has "Stop" a second time here'],
  [
    "two entries of ours",
    inStop(`[{"hooks":[${OLD}]},\n{"hooks":[${OLD}]}]`),
    "2:11 has a second entry of ours here",
  ],
  [
    "ours beside the suite's",
    inStop(`[{"hooks":[${OLD},\n{"command":"fm-turnend-guard.sh"}]}]`),
    "2:1 has an entry of the shell suite here, beside ours",
  ],
  ["depth without end", "[".repeat(200_000), "1:1 is nested too deeply"],
];

for (const [name, text, refusal] of REFUSED) {
  Deno.test(`insertHooks: ${name} is refused`, () => {
    const [, line, column, because = ""] = /^(\d+):(\d+) (.*)$/.exec(refusal) ?? [];
    const at = { line: Number(line), column: Number(column) };
    const guard = ONE.map((each) => ({ ...each, replaces: ["fm-turnend-guard.sh"] }));
    assertEquals(insertion(text, guard), { kind: "refused", because, at });
  });
}

Deno.test("decodeJson: a byte that is not UTF-8 is refused at its place", () => {
  const bytes = new Uint8Array([...new TextEncoder().encode('{\n"é": "'), 0xff, 0x22, 0x7d]);
  const at = { line: 2, column: 7 };
  assertEquals(decodeJson(bytes), { kind: "refused", because: "is not UTF-8 here", at });
});

Deno.test("decodeJson: every other text comes back as it is, a byte order mark included", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    for (const each of [text, `\ufeff${text}`]) {
      const decoded = decodeJson(new TextEncoder().encode(each));
      assertEquals(decoded, { kind: "text", text: each });
    }
  }));
});

Deno.test("parseJson: strict is exactly what JSON.parse takes", () => {
  const piece = fc.constantFrom(
    ...["{", "}", "[", "]", ",", ":", '"a"', '"', "1", "0", "-", ".", "e", "true", "nul", "null"],
    ...[
      "\\",
      "\\u00e9",
      "/",
      "/*",
      "*/",
      "//",
      " ",
      "\t",
      "\n",
      "\r",
      "\u00a0",
      "\ufeff",
      "\0",
      "'",
    ],
  );
  const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(text, (each) => {
      const parsed = parseJson(each);
      const isStrict = parsed.kind === "parsed" && parsed.leniency === undefined;
      assertEquals(isStrict, isJson(each), JSON.stringify(each));
    }),
    { numRuns: 5_000 },
  );
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

Deno.test("removeHooks: a file without our entry is unchanged", () => {
  const text = '{"hooks":{"Stop":[],"X":[]}}';
  assertEquals(removal(text), { kind: "edited", text, count: 0 });
});

Deno.test("removeHooks: takes all entries of ours, and what held nothing else", () => {
  const text =
    `{"a":1,"hooks":{"Stop":[{"matcher":"","hooks":[${OLD}]},{"hooks":[${OLD},{"b":2}]}],` +
    `"X":[]}}`;
  assertEquals(remove(text), '{"a":1,"hooks":{"Stop":[{"hooks":[{"b":2}]}],"X":[]}}');
});

Deno.test("removeHooks: an event that had other groups behind ours keeps them", () => {
  const text = `{\n "hooks": {\n  "Stop": [\n   {"hooks": [${OLD}]},\n   {}\n  ]\n }\n}\n`;
  assertEquals(remove(text), '{\n "hooks": {\n  "Stop": [\n   {}\n  ]\n }\n}\n');
});

Deno.test("removeHooks: refuses what cannot be read", () => {
  assertEquals(removal("{").kind, "refused");
});

/** White space as JSON has it, in any amount. */
const space = fc.array(fc.constantFrom(" ", "\t", "\n", "\r\n", "\r"), { maxLength: 3 })
  .map((parts) => parts.join(""));

const name = fc.constantFrom("matcher", "Other", "x", "é\\n", "\\u0041", "").filter(Boolean);

const scalar = fc.constantFrom("1", "-2.5e3", "true", "null", '""', '"a, b: {c}"', '"\\"]\\u00e9"');

/** Members as text, separated with white space that nobody would write. */
function container(
  [open, close]: readonly [string, string],
  members: readonly fc.Arbitrary<string>[],
): fc.Arbitrary<string> {
  return fc.tuple(
    space,
    fc.tuple(...members),
    fc.array(fc.tuple(space, space), { minLength: members.length, maxLength: members.length }),
  ).map(([inside, texts, spaces]) => {
    if (texts.length === 0) return `${open}${inside}${close}`;
    const padded = texts.map((text, index) => {
      const [before = "", after = ""] = spaces[index] ?? [];
      return `${before}${text}${after}`;
    });
    return `${open}${padded.join(",")}${close}`;
  });
}

function property(key: string, value: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(space, space, value)
    .map(([before, after, text]) => `"${key}"${before}:${after}${text}`);
}

/** Containers of one to three members, each made by `member`. */
function some(
  brackets: readonly [string, string],
  member: fc.Arbitrary<string>,
): fc.Arbitrary<string> {
  return fc.integer({ min: 1, max: 3 })
    .chain((count) => container(brackets, Array.from({ length: count }, () => member)));
}

const CURLY = ["{", "}"] as const;
const SQUARE = ["[", "]"] as const;
const foreignEntry = container(CURLY, [
  property("type", fc.constant('"command"')),
  property("command", fc.constantFrom('"true"', '": other:x; exec"', '"\\u0000"', "7")),
]);
const foreignGroup = fc.oneof(
  container(CURLY, [property("hooks", some(SQUARE, foreignEntry))]),
  container(CURLY, [property("matcher", scalar), property("hooks", container(SQUARE, []))]),
  container(CURLY, []),
);
const stop = property("Stop", some(SQUARE, foreignGroup));
const otherEvent = property("Other", fc.oneof(some(SQUARE, foreignGroup), container(SQUARE, [])));
const hooks = property(
  "hooks",
  fc.oneof(
    container(CURLY, [stop]),
    container(CURLY, [otherEvent]),
    container(CURLY, [stop, otherEvent]),
    container(CURLY, [otherEvent, stop]),
  ),
);
const otherMember = name.chain((key) => property(key, fc.oneof(scalar, some(SQUARE, scalar))));
const root = fc.oneof(
  fc.constant("{}"),
  container(CURLY, [hooks]),
  container(CURLY, [otherMember]),
  container(CURLY, [otherMember, hooks]),
  container(CURLY, [hooks, otherMember]),
);
const hookFile = fc.tuple(space, root, space).map((parts) => parts.join(""));

Deno.test("removeHooks: undoes insertHooks to the byte", () => {
  fc.assert(
    fc.property(hookFile, (text) => {
      for (const entries of [ONE, TWO]) {
        assertEquals(remove(insert(text, entries), entries), text);
      }
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("insertHooks: adds one stretch of text and touches no byte around it", () => {
  fc.assert(
    fc.property(hookFile, (text) => {
      for (const entries of [ONE, TWO]) {
        const after = insert(text, entries);
        let start = 0;
        while (start < text.length && text[start] === after[start]) start++;
        assertEquals(after.slice(after.length - (text.length - start)), text.slice(start));
        assertEquals(howOf(insertion(after, entries)), "none");
      }
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("insertHooks: the new entry is the last group and all else means the same", () => {
  fc.assert(fc.property(hookFile, (text) => {
    for (const entries of [ONE, TWO]) {
      const before = objectOf(JSON.parse(text));
      const after = objectOf(JSON.parse(insert(text, entries)));
      const oldHooks = objectOf(before["hooks"] ?? {});
      const oldGroups: unknown = oldHooks["Stop"] ?? [];
      assert(Array.isArray(oldGroups));
      const groups = [...oldGroups, { hooks: entries.map(({ entry }) => entry) }];
      assertEquals(after, { ...before, hooks: { ...oldHooks, Stop: groups } });
    }
  }));
});

Deno.test("insertHooks: replacing leaves every byte outside the entry", () => {
  fc.assert(fc.property(hookFile, (text) => {
    const other: HookEntry = { command: `${TOKEN}; other`, more: [1, { a: null }] };
    const first = insert(text, [{ token: TOKEN, entry: other }]);
    assertEquals(howOf(insertion(first)), "updated");
    assertEquals(remove(insert(first)), text);
  }));
});

Deno.test("removeHooks: an empty event or hooks object that held ours is gone afterwards", () => {
  for (const text of ['{"hooks":{}}', '{"hooks":{"Stop":[ ]}}']) {
    assertEquals(remove(insert(text)), "{}");
  }
  assertEquals(remove(insert('{"hooks":{"Stop":[],"X":[]}}')), '{"hooks":{"X":[]}}');
});

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  assert(typeof value === "object" && value !== null);
  return { ...value };
}
