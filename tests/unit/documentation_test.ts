/**
 * The documentation inside of the executable against its sources, in both directions.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { dirname, fromFileUrl, join } from "@std/path";
import { EXIT } from "../../src/modes/mode.ts";
import { MODES } from "../../src/modes/table.ts";
import { BLOCKED } from "../../src/modes/topics/blocked.ts";
import { ENVIRONMENT } from "../../src/modes/topics/environment.ts";
import { EXIT_CODES } from "../../src/modes/topics/exit_codes.ts";
import { STATE_FILES } from "../../src/modes/topics/state_files.ts";
import type { Topic } from "../../src/modes/topics/topic.ts";

const PROJECT = dirname(dirname(dirname(fromFileUrl(import.meta.url))));

/** The texts of all sources of the program below `folders`, by path. */
function sources(folders: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const visit = (path: string): void => {
    for (const entry of Deno.readDirSync(join(PROJECT, path))) {
      const inner = `${path}/${entry.name}`;
      if (entry.isDirectory) visit(inner);
      else found.set(inner, Deno.readTextFileSync(join(PROJECT, inner)));
    }
  };
  for (const folder of folders) visit(folder);
  return found;
}

const PROGRAM = [...sources(["src"])].filter(([path]) =>
  !path.startsWith("src/build/") && !path.startsWith("src/modes/topics/")
);

/** First cells of all rows of a topic's tables. */
function terms(topic: Topic): readonly string[] {
  return topic.blocks.flatMap((block) =>
    typeof block === "string" || "lines" in block ? [] : block.rows.map(([name]) => name)
  );
}

/** Variables that the program names as a text of their own, which is how it reads them. */
function variablesRead(): ReadonlySet<string> {
  const name =
    /["'](?:(?:FM|TURNGUARD|CLAUDE|CURSOR|GROK|PI|CODEX|OMP|KIMI|XDG)_[A-Z0-9_]+|CLAUDECODE|HOME|USER|TMPDIR|TERM|NO_COLOR|FORCE_COLOR|GEMINI_CLI|ROVODEV_CLI|ATLASSIAN_AGENT_TYPE)["']/g;
  const shell = /\$\{?((?:FM|TURNGUARD|CLAUDE|CURSOR|GROK|PI)_[A-Z0-9_]+)/g;
  const member = /\b(?:variables|environment)\.((?:FM|CLAUDE)_[A-Z0-9_]+)/g;
  const found = new Set<string>();
  for (const [, text] of PROGRAM) {
    for (const [quoted] of text.matchAll(name)) found.add(quoted.slice(1, -1));
    for (const [, variable] of text.matchAll(member)) {
      if (variable !== undefined) found.add(variable);
    }
  }
  for (const [path, text] of sources(["hooks"])) {
    if (path.endsWith("README.md")) continue;
    for (const [, variable] of text.matchAll(shell)) {
      if (variable !== undefined) found.add(variable);
    }
  }
  return found;
}

Deno.test("help environment: names every variable that is read, and no other", () => {
  assertEquals([...terms(ENVIRONMENT)].sort(), [...variablesRead()].sort());
});

Deno.test("help exit-codes: names every status in the code", () => {
  const named = terms(EXIT_CODES);
  for (const status of Object.values(EXIT)) assert(named.includes(String(status)), String(status));
});

Deno.test("help state-files: names every hidden file that the code names", () => {
  const documented = terms(STATE_FILES);
  const hidden = new Set<string>();
  for (const [path, text] of PROGRAM) {
    if (!/^src\/(state|observe|watch|act)\//.test(path)) continue;
    for (const [quoted] of text.matchAll(/"\.[a-z][a-z-]+(?:\.[a-z]+)*"/g)) {
      hidden.add(quoted.slice(1, -1));
    }
  }
  // Ends of names and names outside of the state directory.
  const suffixes = [".claim", ".status", ".meta", ".source", ".turn-ended"];
  const missing = [...hidden].filter((name) =>
    !suffixes.includes(name) && !name.endsWith(".sh") && !documented.includes(name)
  );
  assertEquals(missing, []);
});

Deno.test("help blocked: every command that it names exists", async () => {
  for (const block of BLOCKED.blocks) {
    if (typeof block === "string" || !("lines" in block)) continue;
    for (const line of block.lines) {
      const mode = /^turnguard (\S+)/.exec(line)?.[1];
      if (mode !== undefined) assert(MODES.some(({ name }) => name === mode), line);
    }
  }
  for (const row of MODES) assertEquals((await row.load()).name, row.name);
});

Deno.test("help: every flag and mode says what it does, in one sentence", async () => {
  for (const row of MODES) {
    const { name, summary, flags } = await row.load();
    for (const text of [summary, ...flags.map((flag) => flag.summary)]) {
      assert(text.length > 10 && text.endsWith("."), `${name}: ${text}`);
    }
  }
});

Deno.test("README: names every exit status and no mode that does not exist", () => {
  const readme = Deno.readTextFileSync(join(PROJECT, "README.md"));
  for (const status of Object.values(EXIT)) assertStringIncludes(readme, `\n| ${status} `);
  const typed = readme.split(/^```.*$/m).filter((_, index) => index % 2 === 1).join("\n");
  const called = [
    ...readme.matchAll(/`turnguard ([a-z][a-z-]*)/g),
    ...typed.matchAll(/^turnguard ([a-z][a-z-]*)/gm),
  ].map(([, word]) => word);
  assert(called.length > 10, "the README calls turnguard");
  for (const word of called) assert(MODES.some(({ name }) => name === word), word);
});
