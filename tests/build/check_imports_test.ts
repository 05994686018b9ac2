/**
 * Each rule of the code's structure is found broken in a small made-up tree,
 * and a tree that keeps them all is found clean.
 *
 * @module
 */

import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { checkImports } from "../../src/build/check_imports.ts";
import { tempFolder } from "./_temp_folder.ts";

/** The source of each file of a made-up project. */
type Tree = Readonly<Record<string, string>>;

const IMPORT_MAP = JSON.stringify({
  imports: { "@std/path": "./src/std/path.ts" },
  unstable: ["raw-imports"],
  lock: false,
});

/** The breaches in a tree, as `file:line: what, why`. */
async function breaches(tree: Tree): Promise<string[]> {
  using folder = tempFolder();
  folder.write("deno.json", IMPORT_MAP);
  for (const [name, source] of Object.entries(tree)) folder.write(name, source);
  const { findings } = await checkImports(folder.path);
  return findings.map(({ file, line, what, why }) => `${file}:${line}: ${what}, ${why}`);
}

const EXPORTS = "export const x = 1;\nexport type X = number;\n";

Deno.test("checkImports: finds nothing in a tree that keeps every rule", async () => {
  const found = await breaches({
    "main.ts": 'import "./src/modes/stop.ts";\nDeno.exit(0);\n',
    "src/build_info.ts": EXPORTS,
    "src/std/path.ts": EXPORTS,
    "src/platform/clock.ts": 'import "@std/path";\nimport "../build_info.ts";\n' + EXPORTS,
    "src/state/codec.ts": 'import "../platform/clock.ts";\n' + EXPORTS,
    "src/harness/pi.ts": 'import text from "../../hooks/pi/x.sh" with { type: "text" };\n' +
      'import json from "../../hooks/pi/x.json" with { type: "json" };\nexport { json, text };\n',
    "hooks/pi/x.sh": "exit 0\n",
    "hooks/pi/x.json": "{}\n",
    "src/decide/verdict.ts":
      'import type { X } from "../platform/clock.ts";\nimport { y } from "./number.ts";\n' +
      "export const z: X = y;\nexport type Z = X;\n",
    "src/decide/number.ts": "export const y = 1;\n",
    "src/observe/home.ts": 'import type { Z } from "../decide/verdict.ts";\nexport type A = Z;\n' +
      'import "../state/codec.ts";\n',
    "src/watch/arm.ts": 'import "../observe/home.ts";\nimport "../decide/verdict.ts";\n',
    "src/activity/idle.ts": 'import "../observe/home.ts";\nimport "../decide/verdict.ts";\n',
    "src/modes/stop.ts": 'import "../watch/arm.ts";\nimport "../activity/idle.ts";\n' +
      'import "../harness/pi.ts";\nimport "./sub/part.ts";\nexport type X = number;\n',
    "src/modes/sub/part.ts": 'import "../../platform/clock.ts";\n',
    "src/build/build.ts": 'import "@std/path";\n',
    "tests/unit/all_test.ts": 'import "../../src/modes/stop.ts";\nimport "../../main.ts";\n',
  });
  assertEquals(found, []);
});

const RULES: ReadonlyArray<{
  readonly rule: string;
  readonly from: string;
  readonly source: string;
  readonly to?: string;
  readonly found: RegExp;
}> = [
  {
    rule: "a lower row importing a higher one",
    from: "src/state/codec.ts",
    source: '\nimport "../modes/stop.ts";',
    to: "src/modes/stop.ts",
    found: /^src\/state\/codec.ts:2: imports src\/modes\/stop.ts, .*above/,
  },
  {
    rule: "a lower row importing a type of a higher one",
    from: "src/platform/clock.ts",
    source: 'import type { X } from "../state/codec.ts";\nexport type Y = X;',
    to: "src/state/codec.ts",
    found: /^src\/platform\/clock.ts:1: imports types of src\/state\/codec.ts, .*above/,
  },
  {
    rule: "a re-export from a higher row",
    from: "src/platform/clock.ts",
    source: 'export { x } from "../state/codec.ts";',
    to: "src/state/codec.ts",
    found: /above/,
  },
  {
    rule: "a dynamic import from a higher row",
    from: "src/platform/clock.ts",
    source: 'export const later = () => import("../state/codec.ts");',
    to: "src/state/codec.ts",
    found: /above/,
  },
  {
    rule: "anything importing main.ts",
    from: "src/modes/stop.ts",
    source: 'import "../../main.ts";',
    to: "main.ts",
    found: /main.ts is above/,
  },
  {
    rule: "state and harness importing each other",
    from: "src/harness/pi.ts",
    source: 'import "../state/codec.ts";',
    to: "src/state/codec.ts",
    found: /side by side/,
  },
  {
    rule: "watch importing activity",
    from: "src/watch/arm.ts",
    source: 'import "../activity/idle.ts";',
    to: "src/activity/idle.ts",
    found: /side by side/,
  },
  {
    rule: "observe importing values of decide",
    from: "src/observe/home.ts",
    source: 'import { x } from "../decide/verdict.ts";\nexport const y = x;',
    to: "src/decide/verdict.ts",
    found: /observe\/ judges nothing/,
  },
  {
    rule: "observe importing watch",
    from: "src/observe/home.ts",
    source: 'import type { X } from "../watch/arm.ts";\nexport type Y = X;',
    to: "src/watch/arm.ts",
    found: /side by side/,
  },
  {
    rule: "decide importing values from below",
    from: "src/decide/verdict.ts",
    source: 'import "../platform/clock.ts";',
    to: "src/platform/clock.ts",
    found: /decide\/ is pure/,
  },
  {
    rule: "decide importing values of the standard library",
    from: "src/decide/verdict.ts",
    source: 'import "@std/path";',
    to: "src/std/path.ts",
    found: /decide\/ is pure/,
  },
  {
    rule: "decide importing from node:",
    from: "src/decide/verdict.ts",
    source: 'import { join } from "node:path";\nexport const p = join;',
    found: /imports node:path, decide\/ is pure/,
  },
  {
    rule: "the program importing the build",
    from: "src/modes/stop.ts",
    source: 'import "../build/build.ts";',
    to: "src/build/build.ts",
    found: /how it is built/,
  },
  {
    rule: "the build importing the program",
    from: "src/build/build.ts",
    source: 'import "../state/codec.ts";',
    to: "src/state/codec.ts",
    found: /beside the program/,
  },
  {
    rule: "the program importing tests",
    from: "src/modes/stop.ts",
    source: 'import "../../tests/support/home.ts";',
    to: "tests/support/home.ts",
    found: /depend on tests/,
  },
  {
    rule: "a mode importing a file of hooks",
    from: "src/modes/stop.ts",
    source: 'import x from "../../hooks/pi/x.sh" with { type: "text" };\nexport { x };',
    to: "hooks/pi/x.sh",
    found: /embedded as text or JSON, by harness/,
  },
  {
    rule: "a harness running a file of hooks",
    from: "src/harness/pi.ts",
    source: 'import "../../hooks/pi/x.ts";',
    to: "hooks/pi/x.ts",
    found: /embedded as text or JSON, by harness/,
  },
  {
    rule: "a folder without a row",
    from: "src/utils/stuff.ts",
    source: EXPORTS,
    found: /^src\/utils\/stuff.ts:1: lies in src\/utils, which has no row/,
  },
  {
    rule: "a file beside the folders",
    from: "src/stuff.ts",
    source: EXPORTS,
    found: /^src\/stuff.ts:1: lies in src\/stuff.ts, which has no row/,
  },
];

for (const { rule, from, source, to, found } of RULES) {
  Deno.test(`checkImports: finds ${rule}`, async () => {
    const target = to === undefined ? {} : { [to]: EXPORTS };
    const [first = "", ...rest] = await breaches({ ...target, [from]: source });
    assertMatch(first, found);
    assertEquals(rest, []);
  });
}

Deno.test("checkImports: finds a circle once, types included", async () => {
  const found = await breaches({
    "src/state/a.ts": 'import "./b.ts";\nexport type A = number;\n',
    "src/state/b.ts": 'import "./c.ts";\n',
    "src/state/c.ts": '\nimport type { A } from "./a.ts";\nexport type C = A;\n',
    "src/state/d.ts": 'import "./a.ts";\n',
  });
  assertEquals(found.length, 1);
  assertMatch(
    found[0] ?? "",
    /^src\/state\/c.ts:2: closes the circle (src\/state\/[abc].ts -> ){3}src\/state\/a.ts, /,
  );
});

Deno.test("checkImports: finds a circle among tests", async () => {
  const found = await breaches({
    "tests/support/a.ts": 'import "./b.ts";\n',
    "tests/support/b.ts": 'import "./a.ts";\n',
  });
  assertMatch(found.join("\n"), /^tests\/support\/b.ts:1: closes the circle/);
});

const IMPURE = [
  "Deno.cwd()",
  "new Date()",
  "Date.now()",
  "Math.random()",
  "performance.now()",
  'fetch("x")',
  "setTimeout(f)",
  "crypto.randomUUID()",
  "console.log(1)",
  "process.env",
  'import("./y.ts")',
];

for (const expression of IMPURE) {
  Deno.test(`checkImports: finds ${expression} in decide`, async () => {
    const found = await breaches({
      "src/decide/y.ts": EXPORTS,
      "src/decide/x.ts": `declare const f: () => void;\nexport const v = () => ${expression};\n`,
    });
    assertMatch(found[0] ?? "", /^src\/decide\/x.ts:2: uses .*, decide\/ is pure/);
  });
}

Deno.test("checkImports: takes no word in texts, comments and members for a name", async () => {
  const found = await breaches({
    "src/decide/x.ts": [
      "/** Deno.cwd() and new Date() are out. */ // fetch(x)",
      "export const text = \"Deno.exit(1) at \" + `Date ${1} performance` + 'crypto';",
      'export const pattern = /Deno|[/`]Date"/;',
      "export const record = { fetch: 1, performance: 2 };",
      "export const member = record.fetch / record.performance;",
      "export interface Fact { readonly crypto?: number; readonly updated: string }",
      "export const dateOf = (undated: number) => undated;",
    ].join("\n"),
  });
  assertEquals(found, []);
});

Deno.test("checkImports: finds a name inside a template's expression", async () => {
  const found = await breaches({
    "src/decide/x.ts": "export const f = () => `a ${`b ${{ c: 1 }.c} ${Date.now()}`} Deno`;\n",
  });
  assertEquals(found.length, 1);
  assertMatch(found[0] ?? "", /uses Date/);
});

Deno.test("checkImports: finds an exit outside main.ts", async () => {
  const found = await breaches({
    "main.ts": "Deno.exit(0);\n",
    "src/modes/stop.ts": "export const end = () => Deno.exit(2);\nDeno.exitCode = 1;\n",
    "src/platform/end.ts": 'import process from "node:process";\nprocess.exit(1);\n',
  });
  assertEquals(found.map((line) => line.split(",")[0]), [
    "src/modes/stop.ts:1: uses Deno.exit",
    "src/platform/end.ts:2: uses process.exit",
  ]);
});

Deno.test("checkImports: finds a binding of `using` that the bundler could fold away", async () => {
  const found = await breaches({
    "src/state/lock.ts": "declare const lock: Disposable;\n" +
      "export function hold(): void {\n  using held = lock;\n  held[Symbol.dispose]();\n}\n" +
      "export function keep(): void {\n  using _held = lock;\n}\n",
  });
  assertEquals(found.map((line) => line.split(",")[0]), ["src/state/lock.ts:3: uses using"]);
});

Deno.test("checkImports: says which file cannot be parsed", async () => {
  await assertRejects(() => breaches({ "src/state/x.ts": "import {;\n" }), Error, "x.ts");
});
