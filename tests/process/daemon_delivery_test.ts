/**
 * The away daemon's digest on its way: what a stop finds under way, what items may hold, and consumers
 * or buffers that are not there.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { isRunning } from "../support/claude_session.ts";
import {
  BUFFER,
  type DaemonHome,
  daemonScenario as scenario,
  isThere,
  SINCE,
  WEDGED,
} from "../support/daemon_home.ts";
import { until } from "../support/processes.ts";

/** What waits since a time long ago, in a mode in which it is delivered. */
function waiting(home: DaemonHome, ...items: readonly string[]): void {
  home.home.away().write(SINCE, "1\n").write(BUFFER, items.map((item) => `${item}\n`).join(""));
  home.script("bin/fm-watch.sh", "exec sleep 600");
}

/** Waits until housekeeping has begun that many times more. */
async function ticks(home: DaemonHome, count: number): Promise<void> {
  for (let tick = 0; tick < count; tick++) {
    const before = tickTime(home);
    await until(() => tickTime(home) !== before, 20_000);
  }
}

function tickTime(home: DaemonHome): number | undefined {
  return Deno.statSync(home.path("state/.subsuper-last-housekeep")).mtime?.getTime();
}

for (const [status, left] of [[75, ["one"]], [0, []]] as const) {
  scenario(
    `a stop waits for a delivery that ends with ${status}, and makes no other`,
    async (home) => {
      waiting(home, "one");
      home.script(
        "slow",
        `[ "$1" = deliver ] || exit 0
echo x >>'${home.path("begun")}'
until [ -e '${home.path("go")}' ]; do sleep 0.05; done
exit ${status}`,
      );
      const daemon = await home.start({ TURNGUARD_DELIVER: home.path("slow") }, ["daemon"]);
      await until(() => home.text("begun") !== "", 20_000);
      daemon.signal("SIGTERM");
      // One that did not wait for the outcome would be gone by then, and the program with it.
      await new Promise((resolve) => setTimeout(resolve, 500));
      assert(isRunning(daemon.pid));
      home.home.write("go");
      assertEquals((await daemon.ended()).status, 0);
      assertEquals([home.text("begun"), home.items], ["x\n", left]);
    },
  );
}

scenario("nothing in an item steers the terminal that shows it", async (home) => {
  waiting(home, "t.status: done: \x1b[2J\x07");
  await home.start({}, ["daemon"]);
  await until(() => home.delivered.length > 0, 20_000);
  assertStringIncludes(home.delivered[0] ?? "", "(1 event(s)): t.status: done: \\x1b[2J\\x07 (");
});

scenario("a consumer that is gone is handed nothing", async (home) => {
  waiting(home, "one");
  home.script("deliver", `[ "$1" = deliver ] && : >'${home.path("handed")}'; exit 1`);
  await home.start({}, ["daemon"]);
  await until(() => isThere(home, "state/.subsuper-last-housekeep"));
  await ticks(home, 2);
  assertEquals([isThere(home, "handed"), home.items], [false, ["one"]]);
});

scenario("a consumer that stays busy is told of once in the log", async (home) => {
  waiting(home, "one");
  home.home.write("answer", "75");
  await home.start({}, ["daemon"]);
  await until(() => home.delivered.length > 2, 20_000);
  assertEquals(home.log.split("digest not taken").length, 2);
});

scenario("a digest that cannot be read is no empty one: it alarms, until it can", async (home) => {
  waiting(home);
  home.home.remove(BUFFER).write(`${BUFFER}/x`);
  const alert = home.script("alert", `echo "$1" >>'${home.path("alerts")}'`);
  await home.start({ FM_MAX_DEFER_SECS: "600", FM_WEDGE_ALARM_EXEC: alert }, ["daemon"]);
  await until(() => home.text("alerts") !== "", 20_000);
  assertMatch(
    home.text(WEDGED),
    /^fm away-mode inject WEDGED: [^\n]+\n.* cannot be read \(.*\)\.\n$/,
  );
  assertStringIncludes(home.log, "ERROR: the digest cannot be read");
  assertEquals(home.delivered, []);
  home.home.remove(BUFFER);
  await until(() => !isThere(home, WEDGED), 20_000);
});
