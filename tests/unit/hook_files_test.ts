/**
 * Thousands of hook files that nobody would write, with comments and all: ours go in and out, and every
 * other byte stays.
 */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { parse } from "jsonc-parser";
import { insertHooks, type Insertion } from "../../src/harness/registration/insert_hooks.ts";
import type { HookShape } from "../../src/harness/registration/hook_survey.ts";
import type { OwnEntry, OwnGroup } from "../../src/harness/registration/own_hooks.ts";
import { parseJson } from "../../src/harness/registration/json_text.ts";
import { removeHooks } from "../../src/harness/registration/remove_hooks.ts";

/** Files of each property: some at each run, thousands when everything is played. */
const FILES = Deno.env.get("TURNGUARD_FULL") === "1" ? 10_000 : 400;

function own(token: string, replaces?: readonly string[]): OwnEntry {
  const entry = { type: "command", command: `: ${token}; exec 'x'`, timeout: 30 };
  return { token, entry, ...(replaces === undefined ? {} : { replaces }) };
}

const STOP = own("turnguard:stop", ["fm-turnend-guard.sh"]);
const AUTOARM = own("turnguard:stop-autoarm", ["fm-claude-stop-autoarm.sh"]);
const ACTIVITY = own("turnguard:activity");

const GROUPS: readonly OwnGroup[] = [
  { event: "Stop", entries: [STOP, AUTOARM] },
  { event: "Stop", entries: [ACTIVITY] },
  { event: "PreToolUse", matcher: "", entries: [ACTIVITY] },
];
const TOKENS = GROUPS.flatMap(({ entries }) => entries.map(({ token }) => token));
const MOVED = GROUPS.map((group) => ({
  ...group,
  entries: group.entries.map((each) => ({
    ...each,
    entry: { ...each.entry, command: `: ${each.token}; exec 'moved'` },
  })),
}));

type Edited = Exclude<Insertion, { kind: "refused" }>;

function install(text: string, shape: HookShape, groups = GROUPS): Edited {
  const result = insertHooks(text, { shape, groups, replaceReferences: true });
  assert(result.kind === "edited", JSON.stringify(result));
  return result;
}

function uninstall(text: string, shape: HookShape, memory?: Edited["memory"]): string {
  const result = removeHooks(text, shape, TOKENS, memory);
  assert(result.kind === "edited", JSON.stringify(result));
  return result.text;
}

/** How a generated file departs from strict JSON. */
interface Style {
  readonly newline: "\n" | "\r\n" | "\r";
  readonly comments: boolean;
  readonly trailingCommas: boolean;
}

const style = fc.record<Style>({
  newline: fc.constantFrom("\n", "\r\n", "\r"),
  comments: fc.boolean(),
  trailingCommas: fc.boolean(),
});

/** What stands between two tokens. */
function space({ newline, comments }: Style): fc.Arbitrary<string> {
  const blank = fc.constantFrom("", "", " ", "\t", newline, `${newline}    `, `${newline}\t`);
  const comment = fc.constantFrom(
    `// note, "[{${newline}`,
    "/**/",
    `/* }${newline} */`,
    "/*é*/ ",
  );
  const piece = comments ? fc.oneof(blank, blank, blank, comment) : blank;
  return fc.array(piece, { maxLength: 2 }).map((pieces) => pieces.join(""));
}

function bracketed(
  style: Style,
  [open, close]: readonly [string, string],
  members: fc.Arbitrary<readonly string[]>,
): fc.Arbitrary<string> {
  return members.chain((texts) =>
    fc.tuple(
      space(style),
      fc.array(fc.tuple(space(style), space(style)), {
        minLength: texts.length,
        maxLength: texts.length,
      }),
      style.trailingCommas && texts.length > 0 ? fc.constantFrom("", `,`) : fc.constant(""),
      space(style),
    ).map(([inside, gaps, comma, end]) =>
      texts.length === 0
        ? `${open}${inside}${close}`
        : `${open}${
          texts.map((text, index) => `${gaps[index]?.[0]}${text}${gaps[index]?.[1]}`).join(",")
        }${comma}${comma === "" ? "" : end}${close}`
    )
  );
}

const CURLY = ["{", "}"] as const;
const SQUARE = ["[", "]"] as const;

function property(style: Style, key: string, value: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(space(style), space(style), value)
    .map(([before, after, text]) => `"${key}"${before}:${after}${text}`);
}

/** An object with some of these members, in any order. */
function object(
  style: Style,
  members: Readonly<Record<string, fc.Arbitrary<string>>>,
): fc.Arbitrary<string> {
  const properties = Object.entries(members).map(([key, value]) => property(style, key, value));
  const some = fc.shuffledSubarray(properties).chain((chosen) => fc.tuple(...chosen));
  return bracketed(style, CURLY, some);
}

function array(style: Style, member: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return bracketed(style, SQUARE, fc.array(member, { maxLength: 3 }));
}

const scalar = fc.constantFrom(
  "1",
  "-2.5e3",
  "true",
  "null",
  '""',
  '"a, // b: {c}"',
  '"\\"]\\u00e9"',
);

/** Entries of other tools. */
function entry(style: Style, commands: readonly string[]): fc.Arbitrary<string> {
  return bracketed(
    style,
    CURLY,
    fc.tuple(
      property(style, "command", fc.constantFrom(...commands)),
      property(style, "x", scalar),
    ),
  );
}

const FOREIGN = ['"true"', '": other:x; exec"', '"turnguard:stopped"', "7"];

function list(style: Style, shape: HookShape, commands: readonly string[]): fc.Arbitrary<string> {
  const one = entry(style, commands);
  if (shape === "flat") return array(style, one);
  return array(style, object(style, { matcher: scalar, hooks: array(style, one), x: scalar }));
}

function hookFile(style: Style, shape: HookShape): fc.Arbitrary<string> {
  const hooks = object(style, {
    Stop: list(style, shape, FOREIGN),
    PreToolUse: list(style, shape, FOREIGN),
    Other: list(style, shape, [...FOREIGN, '"bin/fm-turnend-guard.sh"']),
  });
  const root = object(style, { hooks, version: scalar, "a\\u0041": array(style, scalar) });
  const mark = fc.constantFrom("", style.comments ? "\ufeff" : "");
  return fc.tuple(mark, space(style), root, space(style)).map((parts) => parts.join(""));
}

const anyFile = fc.tuple(style, fc.constantFrom<HookShape>("groups", "flat"))
  .chain(([style, shape]) =>
    hookFile(style, shape).map((text) => ({ text, shape, isStrict: !style.comments }))
  );

function valueOf(text: string): unknown {
  return JSON.parse(JSON.stringify(parse(text.replace(/^\ufeff/, ""), [], {
    allowTrailingComma: true,
  })));
}

/** The comments of a text, in their order. */
function comments(text: string): readonly string[] {
  const parsed = parseJson(text);
  assert(parsed.kind === "parsed");
  return parsed.tokens.filter(({ kind }) => kind === "comment")
    .map(({ start, end }) => text.slice(start, end));
}

/** A value without what is ours, and without what is empty because of that. */
function withoutOurs(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((each) => !isOurs(each)).map(withoutOurs);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withoutOurs(each)]));
}

function isOurs(value: unknown): boolean {
  const text = JSON.stringify(value) ?? "";
  if (!TOKENS.some((token) => text.includes(`: ${token}; `))) return false;
  return !text.includes('"x":');
}

Deno.test("hook files: what is put in can be taken out again, to the byte", () => {
  fc.assert(
    fc.property(anyFile, ({ text, shape }) => {
      const first = install(text, shape);
      assertEquals(first.how, "added");
      assertEquals(install(first.text, shape).how, "none", "the second time nothing changes");
      assertEquals(uninstall(first.text, shape, first.memory), text);
      const moved = install(first.text, shape, MOVED);
      assertEquals(moved.how, "updated");
      assertEquals(uninstall(moved.text, shape, first.memory), text);
    }),
    { numRuns: FILES },
  );
});

Deno.test("hook files: a reader of the file finds ours, and all others in their places", () => {
  fc.assert(
    fc.property(anyFile, ({ text, shape }) => {
      const after = install(text, shape).text;
      assertEquals(comments(after), comments(text));
      if (isStrict(text)) JSON.parse(after);
      const before = valueOf(text);
      const value = valueOf(after);
      assert(typeof before === "object" && before !== null && !Array.isArray(before));
      const empty = { hooks: {}, ...before };
      const hooks = { Stop: [], PreToolUse: [], ...empty.hooks };
      assertEquals(withoutOurs(value), { ...empty, hooks });
      for (const [event, list] of Object.entries(hooks)) assertPrefix(event, list, value);
    }),
    { numRuns: FILES },
  );
});

/** Harnesses store trust by position: the lists of before begin the lists of after. */
function assertPrefix(event: string, list: unknown, value: unknown): void {
  assert(Array.isArray(list));
  const now = Object.entries(member(value, "hooks")).find(([name]) => name === event)?.[1];
  assert(Array.isArray(now));
  assertEquals(now.slice(0, list.length), list);
}

function member(value: unknown, name: string): object {
  assert(typeof value === "object" && value !== null);
  const found: unknown = Object.entries(value).find(([key]) => key === name)?.[1];
  assert(typeof found === "object" && found !== null);
  return found;
}

function isStrict(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

Deno.test("hook files: hooks of the shell suite give way where they stand, and come back", () => {
  const suite = fc.tuple(style, fc.boolean()).chain(([style, both]) => {
    const guard = entry(style, ['"FM=1 bin/fm-turnend-guard.sh --claude"']);
    const arm = entry(style, ['"bin/fm-claude-stop-autoarm.sh"']);
    const foreign = entry(style, FOREIGN);
    const members = both ? fc.tuple(foreign, guard, arm, foreign) : fc.tuple(guard, foreign);
    const groups = bracketed(
      style,
      SQUARE,
      fc.tuple(
        bracketed(
          style,
          CURLY,
          fc.tuple(property(style, "hooks", bracketed(style, SQUARE, members))),
        ),
      ),
    );
    const hooks = bracketed(style, CURLY, fc.tuple(property(style, "Stop", groups)));
    return bracketed(style, CURLY, fc.tuple(property(style, "hooks", hooks)));
  });
  fc.assert(
    fc.property(suite, (text) => {
      const first = install(text, "groups");
      assertEquals(/fm-\S*\.sh/.test(first.text), false);
      assertEquals(install(first.text, "groups").how, "none");
      assertEquals(uninstall(first.text, "groups", first.memory), text);
    }),
    { numRuns: FILES },
  );
});

const OURS = JSON.stringify(STOP.entry);

/** Files that people have changed since ours came into them, and what is left without ours. */
const CHANGED: ReadonlyArray<readonly [name: string, text: string, left: string]> = [
  [
    "a comment on the line before ours, something behind it",
    `{"hooks":{"Stop":[{"hooks":[ // mine\n${OURS},{"x":1}]}]}}`,
    `{"hooks":{"Stop":[{"hooks":[ // mine\n{"x":1}]}]}}`,
  ],
  [
    "a comment beside ours keeps what holds it",
    `{"hooks":{"Stop":[{"hooks":[${OURS}]} /* mine */]}}`,
    `{"hooks":{"Stop":[ /* mine */]}}`,
  ],
  [
    "a comment in the root",
    `{"hooks":{"Stop":[{"hooks":[${OURS}]}]} // mine\n}`,
    "{ // mine\n}",
  ],
  [
    "a comma behind ours, and nothing else",
    `{"hooks":{"Stop":[{"hooks":[{"x":1}, ${OURS}, ]}, ], }, }`,
    `{"hooks":{"Stop":[{"hooks":[{"x":1}, ]}, ], }, }`,
  ],
  [
    "a comment between ours and its comma",
    `{"hooks":{"Stop":[{"hooks":[${OURS} /* mine */ , {"x":1}]}]}}`,
    `{"hooks":{"Stop":[{"hooks":[ /* mine */  {"x":1}]}]}}`,
  ],
];

for (const [name, text, left] of CHANGED) {
  Deno.test(`hook files: ${name}`, () => {
    const result = removeHooks(text, "groups", TOKENS);
    assert(result.kind === "edited");
    assertEquals(result.text, left);
    assertEquals(parseJson(left).kind, "parsed");
  });
}
