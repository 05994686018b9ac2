/**
 * Away and quiet mode from outside its daemon: on beside what an earlier one left, off, and the way back.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { isRunning } from "../support/claude_session.ts";
import {
  afkScenario as scenario,
  BUFFER,
  DAEMON_LOCK,
  GATE,
  isThere,
  SINCE,
  WEDGED,
} from "../support/daemon_home.ts";
import { ON_LINUX, startZombie, until } from "../support/processes.ts";
import { runProgram, TURNGUARD } from "../support/turnguard.ts";

// On.

scenario("on takes over what a launcher has prepared, and misses it", async (home) => {
  const env = { FM_AFK_STATE_PREPARED: "1", TURNGUARD_DELIVER: undefined };
  const missing = await home.afk(["on"], "", env);
  assertEquals([missing.status, isThere(home, DAEMON_LOCK)], [1, false]);
  assertEquals(missing.stderr, "afk: launcher-prepared state is missing\n");
  home.home.away("quiet\n").write(SINCE, "1\n").write(BUFFER, "kept\n");
  const daemon = await home.start(env);
  assertEquals([daemon.over, home.text("state/.afk"), home.items], [false, "quiet\n", ["kept"]]);
});

scenario("on beside what may be a daemon starts nothing and forgets nothing", async (home) => {
  const other = home.home.sleeper();
  await home.home.recordDaemon(other.pid, { identity: null });
  home.home.write(`${DAEMON_LOCK}/pid-identity/x`).write(SINCE, "1\n").write(BUFFER, "kept\n");
  const { status, stderr } = await home.afk(["on"]);
  assertEquals([status, isRunning(other.pid), home.items], [1, true, ["kept"]]);
  assertStringIncludes(stderr, `is already running (pid ${other.pid}, `);
  assertStringIncludes((await home.afk(["status"])).stdout, `cannot be told; pid ${other.pid}`);
});

for (const words of [["afk", "on"], ["daemon"]]) {
  scenario(`${words.join(" ")} follows a daemon that nobody has waited for`, async (home) => {
    await using ended = await startZombie();
    await home.home.recordDaemon(ended.pid, { identity: "linux-starttime=1 cmdline-hex=00\n" });
    assertStringIncludes((await home.afk(["status"])).stdout, "not running; its process has ended");
    const daemon = await home.start({}, words);
    assertEquals(home.text(`${DAEMON_LOCK}/pid`), `${daemon.pid}\n`);
  }, ON_LINUX);
}

// Off.

scenario("off beside a daemon that nobody has waited for takes the mode", async (home) => {
  for (const identity of ["linux-starttime=1 cmdline-hex=00\n", null]) {
    await using ended = await startZombie();
    await home.home.recordDaemon(ended.pid, { identity });
    home.home.away();
    assertEquals(await home.afk(["off"]), {
      status: 0,
      stdout: "afk: off; no daemon was running\n",
      stderr: "",
    });
    assertEquals(isThere(home, "state/.afk"), false);
    home.home.remove(DAEMON_LOCK).remove(`${DAEMON_LOCK}.owner.k3Qz9B`);
  }
}, ON_LINUX);

scenario("off ends a daemon that nobody waits for", async (home) => {
  // The shell becomes a program that never asks for the status of the child it inherited.
  const line = '"$@" >/dev/null 2>&1 & exec /bin/cat';
  const parent = home.home.sleeper("/bin/sh", [
    "-c",
    line,
    "-",
    TURNGUARD,
    "afk",
    "on",
    ...home.home.args,
  ]);
  await until(() => home.log.includes("daemon started"));
  const pid = Number(home.text(`${DAEMON_LOCK}/pid`));
  const stdout = `afk: off; stopped daemon pid=${pid}\n`;
  assertEquals(await home.afk(["off"]), { status: 0, stdout, stderr: "" });
  assertEquals([isThere(home, "state/.afk"), isRunning(parent.pid)], [false, true]);
});

scenario("off ends the daemon while the mode is on, and the mode last (D31)", async (home) => {
  home.script(
    "deliver",
    `[ "$1" = probe ] && exit 0; ls '${home.path("state/.afk")}' >>'${home.path("delivered")}'`,
  );
  const daemon = await home.start({ FM_ESCALATE_BATCH_SECS: "9999" });
  await home.untilWatched();
  home.report("blocked: y");
  await until(() => home.items.length > 0, 20_000);
  const stdout = `afk: off; stopped daemon pid=${daemon.pid}\n`;
  assertEquals(await home.afk(["off"]), { status: 0, stdout, stderr: "" });
  assertEquals(home.delivered, [home.path("state/.afk")]);
  assertEquals([isThere(home, "state/.afk"), daemon.over], [false, true]);
});

scenario("off signals nobody whose pid was reused (D32)", async (home) => {
  const other = home.home.sleeper();
  await home.home.recordDaemon(other.pid, { identity: "linux-starttime=1 cmdline-hex=00\n" });
  home.home.away();
  assertEquals((await home.afk(["off"])).status, 0);
  assertEquals([isRunning(other.pid), isThere(home, "state/.afk")], [true, false]);
});

scenario("off keeps the mode when the daemon does not end (D33)", async (home) => {
  const script = "trap '' TERM; while :; do sleep 0.1; done";
  const stuck = home.home.sleeper("/bin/bash", ["-c", script]);
  await home.home.recordDaemon(stuck.pid);
  home.home.away();
  const { status, stderr } = await home.afk(["off"]);
  assertEquals([status, isThere(home, "state/.afk"), isRunning(stuck.pid)], [1, true, true]);
  assertStringIncludes(stderr, "did not stop");
});

// The way back.

/** Which messages end which mode. */
const MESSAGES: readonly (readonly [mode: string, message: string, leaves: boolean])[] = [
  ["away", "hello", true],
  ["away", "\u2063FIRSTMATE_OP: x", false],
  ["away", "/afk", false],
  ["quiet", "hello", false],
];

scenario("should-exit tells which message ends the mode (D37)", async (home) => {
  for (const [mode, message, leaves] of MESSAGES) {
    home.home.away(`${mode}\n`);
    const { status } = await home.afk(["should-exit"], message);
    assertEquals(status, leaves ? 0 : 1, `${mode}: ${message}`);
  }
});

scenario(
  "a return waits for what is blocked, and opens when it is resolved (D38)",
  async (home) => {
    home.report("blocked [key=a]: x");
    const first = await home.afk(["return"]);
    assertEquals([first.status, first.stdout], [3, ""]);
    assertStringIncludes(first.stderr, "blocked: t [a]: x\n");
    assertStringIncludes(home.text(GATE), "phase\tblocked\n");
    assertStringIncludes(home.text(GATE), "blocker\tt\ta\tx\n");
    home.report("resolved [key=a]: ok");
    assertEquals((await home.afk(["return", "check"])).status, 0);
    assertEquals(isThere(home, GATE), false);
  },
);

scenario("a decision that is only needed does not hold a return (D39)", async (home) => {
  home.report("needs-decision: q");
  home.home.write(BUFFER, "item\n").write(SINCE, "1\n").write(WEDGED, "wedged\nmore\n");
  const { status, stdout } = await home.afk(["return"]);
  assertEquals([status, stdout], [0, "wedge: wedged\nescalation: item\n"]);
  assertEquals([home.items, isThere(home, SINCE), isThere(home, WEDGED)], [[], false, false]);
});

scenario(
  "a return stops the mode and shows what is queued, for the session to handle",
  async (home) => {
    const daemon = await home.start();
    await home.untilWatched();
    daemon.signal("SIGSTOP");
    home.row("check", "c", "check: c");
    daemon.signal("SIGCONT");
    const { status, stdout, stderr } = await home.afk(["return"]);
    assertEquals([status, daemon.over, isThere(home, "state/.afk")], [0, true, false], stderr);
    if (home.queue.length > 0) {
      assertStringIncludes(stdout, "wake: check: c\n");
      assertMatch(stderr, /^WAKE_ACK_REQUIRED: .* --ack-through 1 --recovery-generation \S+$/m);
    }
  },
);

scenario("a return tells nothing away that cannot be read", async (home) => {
  home.home.write(`${BUFFER}/x`).write(SINCE, "1\n");
  const first = await home.afk(["return"]);
  assertEquals([first.status, first.stdout], [3, ""]);
  assertStringIncludes(first.stderr, "lifecycle: the digest cannot be read: not a regular file\n");
  assert(isThere(home, SINCE));
  assertStringIncludes((await home.afk(["status"])).stdout, "digest  cannot be read: ");
  assertEquals(JSON.parse((await home.afk(["status", "--json"])).stdout).items, null);
  home.home.remove(BUFFER);
  assertEquals((await home.afk(["return", "check"])).status, 0);
  assertEquals(isThere(home, GATE), false);
});

scenario("a return waits for a log whose blockers cannot be read", async (home) => {
  home.home.write("elsewhere", "blocked: x\n");
  for (const unreadable of ["folder", "link"]) {
    if (unreadable === "folder") home.home.write("state/t.status/x");
    else Deno.symlinkSync(home.path("elsewhere"), home.path("state/t.status"));
    const { status, stderr } = await home.afk(["return"]);
    assertEquals(status, 3, unreadable);
    assertStringIncludes(stderr, "lifecycle: t.status cannot be read: ");
    home.home.remove("state/t.status");
  }
  assertEquals((await home.afk(["return", "check"])).status, 0);
});

scenario("a task that is over holds no return, whatever its log says", async (home) => {
  home.report("blocked: x").home.remove("state/t.meta");
  assertEquals((await home.afk(["return"])).status, 0);
});

scenario("a return that nobody could read keeps all that it had to tell", async (home) => {
  home.home.write(BUFFER, "item\n").write(SINCE, "1\n").write(WEDGED, "wedged\nmore\n");
  const words = [TURNGUARD, "afk", "return", ...home.home.args];
  const unread = await runProgram(["/bin/sh", "-c", '"$@" >/dev/full', "-", ...words]);
  assertEquals([unread.status, home.items, isThere(home, WEDGED)], [1, ["item"], true]);
  assertStringIncludes(unread.stderr, "run turnguard afk return check");
  assertEquals((await home.afk(["return", "guard"])).status, 3);
  const { status, stdout } = await home.afk(["return", "check"]);
  assertEquals([status, stdout], [0, "wedge: wedged\nescalation: item\n"]);
  assertEquals([isThere(home, BUFFER), isThere(home, GATE)], [false, false]);
}, ON_LINUX);

scenario("a return that cannot drain waits, and says why", async (home) => {
  home.home.write("state/.wake-queue/x");
  const { status, stderr } = await home.afk(["return"]);
  assertEquals(status, 3);
  assertStringIncludes(stderr, "lifecycle: the wakes were not shown: ");
  home.home.remove("state/.wake-queue");
  assertEquals((await home.afk(["return", "check"])).status, 0);
});

scenario("while the gate stands nothing goes on (D40)", async (home) => {
  assertEquals((await home.afk(["return", "guard"])).status, 0);
  home.home.write(GATE, "schema\tfm-afk-return.v1\nblocker\tt\ta\tx\n");
  const guard = await home.afk(["return", "guard"]);
  assertEquals(guard.status, 3);
  assertStringIncludes(guard.stderr, "blocked: t [a]: x");
  assertEquals((await home.afk(["on"])).status, 1);
  assertEquals(isThere(home, "state/.afk"), false);
});

scenario("status tells mode, daemon and digest, and changes nothing", async (home) => {
  const idle = await home.afk(["status"]);
  assertEquals(idle.stdout, "mode    off\ndaemon  not running\ndigest  0 items\n");
  const daemon = await home.start({}, ["away", "start", "--quiet"]);
  const { stdout } = await home.afk(["status", "--json"]);
  const { mode, pid, items, wedged } = JSON.parse(stdout);
  assertEquals({ mode, pid, items, wedged }, {
    mode: "quiet",
    pid: daemon.pid,
    items: 0,
    wedged: false,
  });
  await home.home.write("state/.afk", "1700000000\n");
  assertEquals(JSON.parse((await home.afk(["status", "--json"])).stdout).mode, "away");
});

scenario("words that it does not know are refused with nothing done", async (home) => {
  for (const words of [[], ["nap"], ["on", "now"], ["return", "home"]]) {
    assertEquals((await home.afk(words)).status, 2, words.join(" "));
  }
  assertEquals(isThere(home, "state/.afk"), false);
});
