/**
 * A writer of the activity record that is killed at any step: the file stays whole, no event is applied
 * twice, and only the killed writer's own may be lost.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { fromFileUrl, join } from "@std/path";
import { childCommand, childEnvironment, KILLED, killPoints } from "../support/killed_at_step.ts";
import { inBatches, runProgram, type RunResult } from "../support/turnguard.ts";

const CHILD = fromFileUrl(new URL("./activity_steps_child.ts", import.meta.url));

function write(
  file: string,
  call: string,
  env: Readonly<Record<string, string>> = {},
): Promise<RunResult> {
  return runProgram(childCommand(CHILD, [file, call]), { env: { ...childEnvironment(), ...env } });
}

interface Folder extends AsyncDisposable {
  readonly file: string;
}

/** A file with one call in it, and two that wait in its spool. */
async function prepared(): Promise<Folder> {
  const folder = Deno.makeTempDirSync({ prefix: "turnguard-test-" });
  const file = join(folder, "a.json");
  await write(file, "first");
  {
    const held = Deno.openSync(`${file}.lock`, { read: true });
    using _held = held;
    held.lockSync(true);
    for (const call of ["second", "third"]) await write(file, call);
  }
  return { file, [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }) };
}

function storedCalls(file: string): number {
  const state: { readonly tool_call_count: number } = JSON.parse(Deno.readTextFileSync(file));
  return state.tool_call_count;
}

for (const isBusy of [false, true]) {
  const kind = isBusy ? "while another holds the lock" : "with the lock";
  Deno.test(`activity: killed at any step ${kind}, nothing is torn, doubled or taken along (38)`, async () => {
    const play = async (env?: Readonly<Record<string, string>>): Promise<RunResult> => {
      const folder = await prepared();
      await using _folder = folder;
      const { file } = folder;
      const held = isBusy ? Deno.openSync(`${file}.lock`, { read: true }) : undefined;
      held?.lockSync(true);
      const result = await write(file, "own", env);
      held?.close();
      const after = storedCalls(file);
      assert(after >= 1 && after <= 4, `${after} calls right after`);
      await write(file, "next");
      // Its own may be lost with the killed writer; all others are there, each once.
      const calls = storedCalls(file);
      assert(calls === 4 || calls === 5, `${calls} calls in the end`);
      if (env === undefined) assertEquals(calls, 5);
      const left = [...Deno.readDirSync(`${file}.spool`)].map(({ name }) => name);
      assertEquals(left.filter((name) => !name.startsWith(".")), []);
      return result;
    };
    const points = killPoints(await play(), 3);
    await inBatches(points, async ({ where, env }) => {
      assertEquals((await play(env)).status, KILLED, where);
    });
  });
}
