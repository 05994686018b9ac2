/**
 * `install` as tests call it, and the hook files that it writes.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path";
import { makeHome, type TestHome } from "./home.ts";
import { type RunResult, runTurnguard, TURNGUARD } from "./turnguard.ts";

/** A harness that can be registered with. */
export type Harness = "claude" | "codex" | "cursor" | "grok";

/** Its hook file, by harness. */
export const HOOK_FILES: Readonly<Record<Harness, string>> = {
  claude: ".claude/settings.json",
  codex: ".codex/hooks.json",
  cursor: ".cursor/hooks.json",
  grok: ".grok/hooks/fm-primary-turnend-guard.json",
};

/** Home names that some shell would take apart. */
export const HARD_NAMES: readonly string[] = [
  "home",
  `it's a "home"`,
  "$HOME `id` !x",
  "back\\slash\\\\n\\",
  "漢字 é",
  "-x;*",
];

/** Runs `install` for a home. */
export function install(
  harness: Harness,
  home: TestHome,
  ...args: readonly string[]
): Promise<RunResult> {
  return runTurnguard(["install", harness, "--root", home.root, ...args]);
}

/** The text of a home's hook file. */
export function hookFile(harness: Harness, home: TestHome): string {
  return Deno.readTextFileSync(home.path(HOOK_FILES[harness]));
}

/** Marks the hooks that come with Claude's guard and only take notes. */
const RECORDER = "turnguard:record;";

/** The commands in the hook file of a home, in their order, but for those that only take notes. */
export function commandsIn(harness: Harness, home: TestHome): readonly string[] {
  const found = hookFile(harness, home).matchAll(/"command": ?("(?:[^"\\]|\\.)*")/g);
  return [...found].map(([, command = ""]) => {
    const value: unknown = JSON.parse(command);
    assert(typeof value === "string");
    return value;
  }).filter((command) => !command.includes(RECORDER));
}

/**
 * Makes a home with a task, in which an executable of an equally hard name is registered. Bind it with
 * `await using`.
 */
export async function makeRegisteredHome(harness: Harness, name: string): Promise<TestHome> {
  const home = makeHome({ name });
  const executable = join(home.folder, `tg ${name}`);
  Deno.symlinkSync(TURNGUARD, executable);
  const { status } = await install(harness, home, "--executable", executable);
  if (status !== 0) await home[Symbol.asyncDispose]();
  assertEquals(status, 0);
  return home.task();
}
