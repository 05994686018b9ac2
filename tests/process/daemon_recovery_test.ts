/**
 * The away daemon when something goes wrong around it: wakes that cannot be handled, a lock that is
 * lost, watchers of the home's own that do not end, and roots of two names.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { isRunning } from "../support/claude_session.ts";
import {
  BUFFER,
  DAEMON_LOCK,
  daemonScenario as scenario,
  isThere,
  PID_FILE,
} from "../support/daemon_home.ts";
import { until } from "../support/processes.ts";
import { FIRST_STOP, runTurnguard, verdictOf } from "../support/turnguard.ts";

scenario(
  "a wake that cannot be handled is tried again after a while, not at once",
  async (home) => {
    const starts = home.path("starts");
    home.script("bin/fm-watch.sh", `date +%s%N >>'${starts}'; echo 'check: x'`);
    home.home.write(`${BUFFER}/x`);
    home.row("check", "c", "check: c");
    await home.start({ FM_CRASH_NORMAL_SLEEP: "2" }, ["daemon"]);
    await until(() => home.text("starts").split("\n").length > 3, 30_000);
    const [first = 0, second = 0, third = 0] = home.text("starts").split("\n").map(Number);
    const waitsMs = [second - first, third - second].map((wait) => wait / 1e6);
    assert(waitsMs.every((wait) => wait >= 1_900), `${waitsMs}`);
    assertEquals(home.queue, ["check\tc\tcheck: c"]);
  },
);

scenario("an item after one that was torn is an item of its own", async (home) => {
  home.home.write(BUFFER, "to");
  home.row("check", "c", "check: c");
  await home.start({}, ["daemon"]);
  await until(() => home.queue.length === 0, 20_000);
  assertEquals(home.items, ["to", "check: c"]);
});

for (const taken of ["away", "by another"] as const) {
  scenario(`a lock that is taken ${taken} ends the daemon with its watcher`, async (home) => {
    const daemon = await home.start({}, ["daemon"]);
    const watcher = await home.untilWatched();
    home.home.remove(DAEMON_LOCK);
    if (taken === "by another") {
      home.home.write(PID_FILE, "another\n");
      await home.home.recordDaemon(home.home.sleeper().pid);
    }
    const { status, stderr } = await daemon.ended();
    assertEquals([status, isRunning(watcher)], [1, false]);
    assertStringIncludes(stderr, "is no longer this daemon's");
    assertEquals(isThere(home, DAEMON_LOCK), taken === "by another");
    if (taken === "by another") assertEquals(home.text(PID_FILE), "another\n");
  });
}

scenario("a home's watcher that ignores TERM does not keep it from ending", async (home) => {
  const pidFile = home.path("watcher");
  home.script("bin/fm-watch.sh", `trap '' TERM; echo $$ >'${pidFile}'; while :; do sleep 1; done`);
  const daemon = await home.start({}, ["daemon"]);
  await until(() => home.text("watcher").endsWith("\n"));
  daemon.signal("SIGTERM");
  assertEquals((await daemon.ended()).status, 0);
  assertEquals(isRunning(Number(home.text("watcher"))), false);
  assertEquals(isThere(home, DAEMON_LOCK), false);
});

scenario(
  "under an override of the root its watcher is the one that others look for",
  async (home) => {
    const link = `${home.home.folder}/link`;
    Deno.symlinkSync(home.home.root, link);
    const env = { FM_ROOT_OVERRIDE: link, FM_HOME: home.home.root };
    await home.start(env);
    await home.untilWatched();
    assertEquals(home.text("state/.watch.lock/watcher-path"), `${home.home.watcherPath}\n`);
    // Without the mode the watcher alone has to prove that somebody supervises.
    home.home.remove("state/.afk");
    const run = await runTurnguard(["stop", ...home.home.args], { env, stdin: FIRST_STOP });
    assertEquals(verdictOf(run), "allow");
  },
);
