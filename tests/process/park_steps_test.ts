/**
 * A park that is killed at any step: what it has counted it may not have said, but never the other way
 * round, and the next park takes its place at once.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { says, writeArm } from "../support/claude_session.ts";
import { BATON, type CursorHome, makeCursorHome, REPAIRS, saidBy } from "../support/cursor_home.ts";
import { exists, textOf } from "../support/files.ts";
import { childCommand, childEnvironment, KILLED, killPoints } from "../support/killed_at_step.ts";
import { inBatches, runProgram, type RunResult } from "../support/turnguard.ts";

const CHILD = fromFileUrl(new URL("./park_steps_child.ts", import.meta.url));
const BEFORE = "session=conv-1\ncount=1\n";
const AFTER = "session=conv-1\ncount=2\n";

/** What an answer must never go without, for each part. */
const PROMISES: Readonly<Record<string, (home: CursorHome) => boolean>> = {
  "wake": (home) => !exists(home.path(REPAIRS)),
  "repair": (home) => textOf(home.path(REPAIRS)) === AFTER,
  "ceiling": (home) => textOf(home.path(REPAIRS)) === BEFORE,
};

async function make(part: string): Promise<CursorHome> {
  const home = await makeCursorHome();
  home.home.write(BATON, "seq=12 pid=60211 updated_at=1790000000\n").write(REPAIRS, BEFORE);
  if (part === "idle") home.home.remove("state/task1.meta");
  return home;
}

function play(
  home: CursorHome,
  part: string,
  env: Readonly<Record<string, string>> = {},
): Promise<RunResult> {
  return runProgram(childCommand(CHILD, [home.home.root, part]), {
    env: { ...childEnvironment(), ...env },
  });
}

async function inspect(
  home: CursorHome,
  part: string,
  told: RunResult,
  where: string,
): Promise<void> {
  const [line = "", sequence] = /^seq=([0-9]+) pid=[0-9]+ updated_at=[0-9]+\n$/
    .exec(textOf(home.path(BATON))) ?? [];
  assert(sequence === "12" || sequence === "13", `${where}: ${line}`);
  const budget = textOf(home.path(REPAIRS));
  assert(["", BEFORE, AFTER].includes(budget), `${where}: ${budget}`);
  const answers = told.stdout.split("\n").filter((text) => text.startsWith("answer "));
  assert(answers.length <= 1, `${where}: ${told.stdout}`);
  if (answers.length === 1) assert(PROMISES[part]?.(home) === true, `${where}: ${budget}`);

  if (part === "idle") home.home.task();
  writeArm(home.home, says("signal: next"));
  assertMatch(saidBy(await home.run()), /^watcher: /, where);
  assertEquals(home.sequence(), Number(sequence) + 1, where);
  assertEquals(exists(home.path(REPAIRS)), false, where);
  // What was being written is thrown away by a watcher of a later hour; nothing else stays.
  assertEquals(home.litter().filter((name) => !/\.(?:tmp|owner)\.\w{6}$/.test(name)), [], where);
}

for (const part of ["wake", "repair", "idle", "ceiling"]) {
  Deno.test(`park: killed at any step, the next one takes its place (${part})`, async () => {
    const unharmed = await make(part);
    await using _unharmed = unharmed;
    const told = await play(unharmed, part);
    assertEquals(told.stdout.includes("answer "), part !== "idle", told.stdout + told.stderr);
    await inspect(unharmed, part, told, "not killed");
    await inBatches(killPoints(told), async ({ where, env }) => {
      const home = await make(part);
      await using _home = home;
      const killed = await play(home, part, env);
      assertEquals(killed.status, KILLED, `${where}: ${killed.stderr}`);
      await inspect(home, part, killed, where);
    });
  });
}
