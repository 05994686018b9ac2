/**
 * The facade promises in its types only what the library really has.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import * as assertions from "@std/assert";
import * as cli from "@std/cli";
import * as colors from "@std/fmt/colors";
import * as fs from "@std/fs";
import * as path from "@std/path";
import * as mock from "@std/testing/mock";
import * as text from "@std/text";

const FACADES: ReadonlyArray<[file: string, module: Readonly<Record<string, unknown>>]> = [
  ["assert.d.ts", assertions],
  ["cli.d.ts", cli],
  ["fmt_colors.d.ts", colors],
  ["fs.d.ts", fs],
  ["path.d.ts", path],
  ["testing_mock.d.ts", mock],
  ["text.d.ts", text],
];

/** The names of the values, not the types, that a declaration file exports. */
function declaredValues(file: string): string[] {
  const text = Deno.readTextFileSync(new URL(`../../src/std/${file}`, import.meta.url));
  const names = text.matchAll(/^export declare (?:function|const|class) (\w+)/gm);
  return [...new Set([...names].map((match) => match[1] ?? ""))];
}

for (const [file, module] of FACADES) {
  Deno.test(`facade ${file}: every declared value exists at run time`, () => {
    const declared = declaredValues(file);
    assertEquals(declared.filter((name) => module[name] === undefined), []);
    assertEquals(declared.length > 0, true);
  });
}

Deno.test("facade: every declaration file has its own test", () => {
  const files = [...Deno.readDirSync(new URL("../../src/std/", import.meta.url))]
    .map((entry) => entry.name).filter((name) => name.endsWith(".d.ts")).sort();
  assertEquals(files, FACADES.map(([file]) => file));
});

Deno.test("parseArgs: the type of a flag follows from how it is declared", () => {
  const flags = cli.parseArgs(
    ["--json", "--root", "/r", "--tag=a", "--tag", "b", "x", "--", "-y"],
    {
      boolean: ["json"],
      string: ["root", "tag", "mode", "_"],
      collect: ["tag"],
      default: { mode: "plain" },
      "--": true,
    },
  );
  const json: boolean = flags.json;
  const root: string | undefined = flags.root;
  const tag: string[] = flags.tag;
  const mode: string = flags.mode;
  const plain: string[] = flags._;
  const rest: string[] = flags["--"];
  assertEquals([json, root, tag, mode, plain, rest], [true, "/r", ["a", "b"], "plain", ["x"], [
    "-y",
  ]]);
});
