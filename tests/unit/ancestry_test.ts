/** The run of harnesses above this process. */

import { assertEquals } from "@std/assert";
import { descendsFrom, harnessAncestry } from "../../src/observe/ancestry.ts";
import type { Pid } from "../../src/platform/pid.ts";
import { parentPid, type Processes } from "../../src/platform/processes.ts";
import { pidOf } from "../support/facts.ts";

/** Processes above this one by name, nearest first; `undefined` cannot be read. */
function above(...names: readonly (string | undefined)[]): {
  readonly processes: Processes;
  readonly pids: readonly Pid[];
} {
  const first = parentPid() ?? pidOf(2);
  const pids = names.map((_, index) => index === 0 ? first : pidOf(900_000 + index));
  return {
    pids,
    processes: {
      method: "proc-override",
      identity: () => Promise.resolve({ kind: "unknown", because: "not asked" }),
      isZombie: () => Promise.resolve(false),
      clocksWith: () => Promise.resolve({ kind: "unknown" }),
      info: (at) => {
        const index = pids.indexOf(at);
        const command = names[index];
        if (command === undefined) return Promise.resolve(undefined);
        const parent = pids[index + 1];
        return Promise.resolve({ pid: at, parent, command, args: command, argv0: command });
      },
    },
  };
}

/** Which of the processes above count, by their place. */
async function run(...names: readonly (string | undefined)[]): Promise<readonly number[]> {
  const { processes, pids } = above(...names);
  return (await harnessAncestry(processes)).map((ancestor) => pids.indexOf(ancestor.pid));
}

const SH = (count: number): readonly string[] => Array.from({ length: count }, () => "sh");

Deno.test("harnessAncestry: a run of Claude processes, and nothing beyond its first gap", async () => {
  assertEquals(await run("sh", "claude", "bash", "claude"), [1]);
  assertEquals(await run("claude", "claude", "claude", "terminal"), [0, 1, 2]);
  assertEquals(await run("sh", "claude", "claude", "sh", "claude"), [1, 2]);
});

Deno.test("harnessAncestry: any other harness is one, and ends a run that it follows", async () => {
  assertEquals(await run("sh", "pi", "pi-signed"), [1]);
  assertEquals(await run("sh", "codex", "codex"), [1]);
  assertEquals(await run("claude", "claude", "codex", "claude"), [0, 1, 2]);
  assertEquals(await run("codex", "claude"), [0]);
});

Deno.test("harnessAncestry: uncertain without a harness, or behind what cannot be read", async () => {
  assertEquals(await run("sh", "bash", "init"), []);
  assertEquals(await run("sh", undefined, "claude"), []);
  assertEquals(await run("claude", undefined, "claude"), [0]);
  assertEquals(await run(undefined), []);
});

Deno.test("harnessAncestry: sixteen hops and no more", async () => {
  assertEquals(await run(...SH(15), "claude", "claude"), [15]);
  assertEquals(await run(...SH(16), "claude"), []);
});

Deno.test("descendsFrom: counts the process itself and climbs at most 64 steps", async () => {
  const { processes, pids } = above(...SH(70));
  const from = pids[0] ?? pidOf(1);
  const answers = [0, 1, 63, 64].map((place) =>
    descendsFrom(from, pids[place] ?? pidOf(1), processes)
  );
  assertEquals(await Promise.all(answers), [true, true, true, false]);
  assertEquals(await descendsFrom(pids[3] ?? pidOf(1), from, processes), false);
});
