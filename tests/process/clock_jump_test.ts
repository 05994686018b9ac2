/**
 * Machines that slept, and clocks that were set, under the built executable.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { isRunning } from "../support/claude_session.ts";
import { textOf } from "../support/files.ts";
import { makeHome, type TestHome } from "../support/home.ts";
import { until } from "../support/processes.ts";
import { runTurnguard, TURNGUARD, verdictOf } from "../support/turnguard.ts";
import { type Variables, watch } from "../support/watching.ts";

/** A process table with the given pids and the clocks of a machine that slept for `slept` seconds. */
function procTree(home: TestHome, pids: readonly number[], slept: number): string {
  const root = `${home.folder}/proc`;
  for (const pid of pids) {
    Deno.mkdirSync(`${root}/${pid}`, { recursive: true });
    for (const name of ["stat", "cmdline"]) {
      Deno.writeFileSync(`${root}/${pid}/${name}`, Deno.readFileSync(`/proc/${pid}/${name}`));
    }
  }
  Deno.writeTextFileSync(`${root}/uptime`, `${100_000 + slept}.00 1.00\n`);
  Deno.writeTextFileSync(`${root}/stat`, "cpu0 10000000 0 0 0 0 0 0 0 0 0\n");
  return root;
}

/** Lets the holder beat as soon as the program under test waits for it. */
async function beatWhenWatched(home: TestHome, ended: Promise<unknown>): Promise<void> {
  let over = false;
  void ended.finally(() => over = true);
  await until(() => over || isWatched(home.state), 20_000);
  home.beat(0);
}

/** Whether some turnguard has an eye on the directory; the kernel lists whoever asked for notices. */
function isWatched(state: string): boolean {
  const inode = (Deno.statSync(state).ino ?? 0).toString(16);
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^[0-9]+$/.test(name) || !textOf(`/proc/${name}/cmdline`).includes(TURNGUARD)) continue;
    try {
      for (const fd of Deno.readDirSync(`/proc/${name}/fdinfo`)) {
        if (textOf(`/proc/${name}/fdinfo/${fd.name}`).includes(`ino:${inode} `)) return true;
      }
    } catch {
      // It ended in between.
    }
  }
  return false;
}

function stop(home: TestHome, env: Variables): ReturnType<typeof runTurnguard> {
  const stdin = '{"stop_hook_active":false}';
  return runTurnguard(["stop", ...home.args], { env: { ...home.env, ...env }, stdin });
}

Deno.test("clock: after a sleep a live watcher gets its poll, and its beat allows", async () => {
  await using home = makeHome().task();
  const watcher = await home.watcher(4_000);
  const env = { FM_PROC_ROOT_OVERRIDE: procTree(home, [watcher.pid], 5_000) };
  const run = stop(home, env);
  await beatWhenWatched(home, run);
  assertEquals(verdictOf(await run), "allow");
});

Deno.test("clock: after a sleep a watcher that does not beat is told after its poll", async () => {
  await using home = makeHome().task();
  const watcher = await home.watcher(4_000);
  const env = { FM_PROC_ROOT_OVERRIDE: procTree(home, [watcher.pid], 5_000), FM_POLL: "0" };
  assertEquals(verdictOf(await stop(home, env)), "block");
});

Deno.test("clock: without a sleep a stale watcher is told at once", async () => {
  await using home = makeHome().task();
  const watcher = await home.watcher(4_000);
  const env = { FM_PROC_ROOT_OVERRIDE: procTree(home, [watcher.pid], 0) };
  const run = stop(home, env);
  let waited = false;
  void until(() => waited = isWatched(home.state), 1_000).catch(() => {});
  assertEquals([verdictOf(await run), waited], ["block", false]);
});

Deno.test("clock: a beat from the future is waited over", async () => {
  await using home = makeHome().task();
  await home.watcher(-4_000);
  const run = stop(home, {});
  await beatWhenWatched(home, run);
  assertEquals(verdictOf(await run), "allow");
});

Deno.test("clock: a starting watcher does not evict one that the sleep made late", async () => {
  await using home = makeHome();
  const holder = await home.watcher(4_000);
  const env = { FM_PROC_ROOT_OVERRIDE: procTree(home, [holder.pid], 5_000) };
  const run = watch(home, env);
  await beatWhenWatched(home, run);
  const { status, stdout } = await run;
  assertEquals([status, stdout], [0, `watcher: already running pid ${holder.pid}\n`]);
  assert(isRunning(holder.pid));
});
