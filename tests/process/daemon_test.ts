/**
 * The away daemon: its start, what it makes of wakes, its digests, its alarm, and its end.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { isRunning } from "../support/claude_session.ts";
import {
  BUFFER,
  DAEMON_LOCK,
  type DaemonHome,
  daemonScenario as scenario,
  isThere,
  PID_FILE,
  SINCE,
  WEDGED,
} from "../support/daemon_home.ts";
import { identityOf, until } from "../support/processes.ts";
import { runTurnguard, TURNGUARD, verdictOf } from "../support/turnguard.ts";

// Start.

scenario("on writes the mode, records itself and has a watcher (D1)", async (home) => {
  const daemon = await home.start();
  assertMatch(home.text("state/.afk"), /^away\n[0-9]+\n$/);
  assertEquals(home.text(`${DAEMON_LOCK}/pid`), `${daemon.pid}\n`);
  assertEquals(home.text(`${DAEMON_LOCK}/pid-identity`), `${await identityOf(daemon.pid)}\n`);
  assertEquals(home.text(PID_FILE), `${daemon.pid}\n`);
  await home.untilWatched();
});

scenario("on beside a daemon that runs only changes the mode (D2)", async (home) => {
  const daemon = await home.start();
  home.home.write(BUFFER, "kept\n");
  const run = await home.afk(["on", "--quiet"]);
  const stdout = `afk: daemon already running pid=${daemon.pid}\n`;
  assertEquals(run, { status: 0, stdout, stderr: "" });
  assertMatch(home.text("state/.afk"), /^quiet\n/);
});

scenario("a lock whose pid is another process by now is taken (D3)", async (home) => {
  const other = home.home.sleeper();
  await home.home.recordDaemon(other.pid, { identity: "linux-starttime=1 cmdline-hex=00\n" });
  const daemon = await home.start();
  assertEquals(home.text(`${DAEMON_LOCK}/pid`), `${daemon.pid}\n`);
  assert(isRunning(other.pid));
});

scenario("a pid file alone proves nothing (D4)", async (home) => {
  home.home.write(PID_FILE, `${home.home.sleeper().pid}\n`);
  assertEquals((await home.start()).over, false);
});

scenario("a mode that cannot be written starts nothing (D5)", async (home) => {
  home.home.write("state/.afk/x");
  const run = await home.afk(["on"]);
  assertEquals(run, { status: 1, stdout: "", stderr: "afk: failed to write away-mode flag\n" });
  assertEquals(isThere(home, DAEMON_LOCK), false);
});

scenario(
  "what an earlier stretch left is forgotten, what is queued is handled (D6)",
  async (home) => {
    home.home.write(BUFFER, "old\n").write(SINCE, "1\n").write(WEDGED, "old\n");
    home.row("check", "c", "check: c");
    await home.start({ TURNGUARD_DELIVER: undefined });
    await until(() => home.items.length > 0, 20_000);
    assertEquals([home.items, isThere(home, WEDGED)], [["check: c"], false]);
  },
);

scenario("of two daemons the second says who runs (D7)", async (home) => {
  const first = await home.start();
  const { status, stderr } = await runTurnguard(["daemon", ...home.home.args]);
  assertEquals(status, 1);
  assertStringIncludes(
    stderr,
    `error: another fm-supervise-daemon is already running (pid ${first.pid}, lock `,
  );
});

scenario("without an identity of its own it says so and goes on (D8)", async (home) => {
  Deno.mkdirSync(home.path("empty"));
  const daemon = await home.start({ FM_PROC_ROOT_OVERRIDE: home.path("empty"), PATH: "/none" });
  // Where ps exists it tells the identity all the same.
  const unknown = home.log.includes("warn: could not record this daemon's process identity");
  assertEquals(isThere(home, `${DAEMON_LOCK}/pid-identity`), !unknown);
  assertEquals(daemon.over, false);
});

scenario("a delivery program that cannot run is told before anything starts", async (home) => {
  home.home.write("deliver-not");
  const daemon = await home.start({ TURNGUARD_DELIVER: home.path("deliver-not") });
  const { status, stderr } = await daemon.ended();
  assertEquals(status, 1);
  assertStringIncludes(stderr, "which cannot be executed");
  assertEquals([isThere(home, DAEMON_LOCK), isThere(home, PID_FILE)], [false, false]);
});

// Wakes.

scenario("a report that needs nothing is handled in silence (D9)", async (home) => {
  await home.start(home.workingCrew);
  const first = await home.untilWatched();
  home.report("working: x");
  await until(
    () => home.text("state/.watcher-down").startsWith("acked:") && home.queue.length === 0,
    20_000,
  );
  await until(() => ![first, 0, NaN].includes(Number(home.text("state/.watch.lock/pid"))));
  assertEquals([home.queue, home.items, home.delivered], [[], [], []]);
});

scenario("a report that needs somebody is delivered once (D10)", async (home) => {
  await home.start();
  const first = await home.untilWatched();
  home.report("blocked: y");
  await until(() => home.delivered.length > 0, 20_000);
  assertStringIncludes(home.delivered[0] ?? "", "\u2063FIRSTMATE_OP: v1 away-supervisor: ");
  assertStringIncludes(home.delivered[0] ?? "", "(1 event(s)): t.status: blocked: y");
  await until(() => home.items.length === 0 && !isThere(home, SINCE));
  await until(() => ![first, 0, NaN].includes(Number(home.text("state/.watch.lock/pid"))), 20_000);
  assertEquals([home.delivered.length, home.queue], [1, []]);
});

scenario(
  "a busy consumer gets it at a later tick, and nobody is alarmed (D11, D13)",
  async (home) => {
    home.home.write("answer", "75");
    await home.start();
    await home.untilWatched();
    home.report("blocked: y");
    await until(() => home.delivered.length > 1, 20_000);
    assertEquals([home.items.length, isThere(home, SINCE)], [1, true]);
    home.home.write("answer", "0");
    await until(() => home.items.length === 0);
    assertEquals(isThere(home, WEDGED), false);
  },
);

scenario("what waits too long raises one alarm, which delivery clears (D12, D13)", async (home) => {
  home.home.write("answer", "75");
  const alert = home.script("alert", `printf '%s\\n' "$1: $2" >>'${home.path("alerts")}'`);
  await home.start({ FM_MAX_DEFER_SECS: "2", FM_WEDGE_ALARM_EXEC: alert });
  await home.untilWatched();
  home.report("blocked: y");
  await until(() => home.text("alerts") !== "", 30_000);
  assertMatch(home.text("alerts"), /^auto: fm away-mode inject WEDGED: [0-9]+s undelivered/);
  assertMatch(home.text(WEDGED), /^fm away-mode inject WEDGED: [^\n]+\n[^\n]+\nt\.status: /);
  home.home.write("answer", "0");
  await until(() => home.items.length === 0 && !isThere(home, WEDGED), 20_000);
  assertStringIncludes(home.log, "ERROR: the digest could not be delivered for ");
});

scenario("items of one batch are one message (D14)", async (home) => {
  for (const task of ["a", "b", "c"]) home.report("failed: x", task);
  await home.start({ FM_ESCALATE_BATCH_SECS: "1" });
  await until(() => home.delivered.length > 0, 20_000);
  const items = ["a", "b", "c"].map((task) => `${task}\\.status: failed: x( \\([a-z -]+\\))?`);
  assertMatch(home.delivered[0] ?? "", new RegExp(`\\(3 event\\(s\\)\\): ${items.join(" \\| ")}`));
});

scenario("the age of the first item decides about a batch (D15)", async (home) => {
  const old = Math.floor(Date.now() / 1000) - 90;
  home.home.away();
  home.home.write(BUFFER, "first\nsecond\n").write(SINCE, `${old}\n`);
  await home.start({ FM_ESCALATE_BATCH_SECS: "90" }, ["daemon"]);
  await until(() => home.delivered.length > 0, 20_000);
  assertStringIncludes(home.delivered[0] ?? "", "(2 event(s)): first | second");
});

scenario("without the mode nothing is delivered (D16)", async (home) => {
  await home.start({}, ["daemon"]);
  await home.untilWatched();
  home.report("blocked: y");
  await until(() => home.items.length > 0, 20_000);
  assertEquals(home.delivered, []);
});

scenario("watchers that crash are started again, then backed off from (D18)", async (home) => {
  home.script("bin/fm-watch.sh", `echo x >>'${home.path("starts")}'; exit 1`);
  const daemon = await home.start({
    FM_CRASH_NORMAL_SLEEP: "0",
    FM_CRASH_THRESHOLD: "3",
    FM_CRASH_BACKOFF: "600",
  });
  await until(() =>
    home.log.includes("ERROR: watcher crashed 4 times within 60s; backing off 600s")
  );
  assertEquals(home.text("starts"), "x\nx\nx\nx\n");
  assertStringIncludes(home.log, "watcher exited rc=1 reason=''; restarting after 0s");
  daemon.signal("SIGTERM");
  assertEquals((await daemon.ended()).status, 0);
});

scenario(
  "a watcher beside it is waited for, and what it told is handled (D19, D20)",
  async (home) => {
    const orphan = new Deno.Command("/bin/sh", {
      args: ["-c", 'exec "$@" >/dev/null', "-", ...watchWords(home)],
      env: { FM_SIGNAL_GRACE: "0", FM_POLL: "1" },
      stdin: "null",
    }).spawn();
    await home.untilWatched();
    await home.start();
    await until(() => home.log.includes("no wake: watcher: already running pid "), 20_000);
    home.report("blocked: y");
    await orphan.status;
    await until(() => home.delivered.length > 0, 20_000);
    assertStringIncludes(home.delivered.join("\n"), "t.status: blocked: y");
  },
);

function watchWords(home: DaemonHome): readonly string[] {
  const { root } = home.home;
  return [TURNGUARD, "watch", "--root", root];
}

scenario("a wake behind another line is a wake (D21)", async (home) => {
  home.script(
    "bin/fm-watch.sh",
    `[ -e '${home.path("ran")}' ] && exec sleep 600; : >'${home.path("ran")}'
echo 'watcher: replaced stalled pid 5 (beacon 9s past hard bound 3s)'; echo 'check: x'`,
  );
  await home.start();
  await until(() => home.delivered.length > 0, 20_000);
  assertStringIncludes(home.delivered[0] ?? "", "check: x");
});

scenario("wakes that could not be handled stay queued (D22, D23)", async (home) => {
  home.home.write(`${BUFFER}/x`);
  home.row("check", "c", "check: c");
  await home.start({}, ["daemon"]);
  await until(
    () => home.log.includes("wake classification failed; retaining durable wakes"),
    20_000,
  );
  assertEquals(home.queue, ["check\tc\tcheck: c"]);
  home.home.remove(BUFFER);
  await until(() => home.items.length > 0, 30_000);
  await until(() => home.queue.length === 0);
  assertEquals(home.items, ["check: c"]);
});

scenario("what a signal told, the scan does not tell again (D24, D25)", async (home) => {
  await home.start({ FM_HEARTBEAT_SCAN_SECS: "1", TURNGUARD_DELIVER: undefined });
  await home.untilWatched();
  home.report("done: a\nworking: b");
  await until(() => home.items.length > 0, 20_000);
  const scan = "state/.subsuper-last-scan";
  const seen = Deno.statSync(home.path(scan)).mtime?.getTime() ?? 0;
  await until(() => (Deno.statSync(home.path(scan)).mtime?.getTime() ?? 0) > seen + 1_000);
  assertEquals(home.items, [home.items[0] ?? ""]);
  assertMatch(home.items[0] ?? "", /^t\.status: done: a( \(catch-all scan\))?$/);
});

/** Payloads of one row, and the item that it becomes; none where it is handled in silence. */
const PAYLOADS: readonly (readonly [kind: string, payload: string, item: string | undefined])[] = [
  ["check", "check: x (D27)", "check: x (D27)"],
  ["heartbeat", "heartbeat", undefined],
  ["check", "check: noisy 1", undefined],
  ["stale", "stale: fm:fm-busy for 5m", "stale: fm:fm-busy for 5m"],
  ["stale", "stale: fm:fm-idle for 5m", undefined],
  ["stale", "stale: idle", undefined],
  ["signal", "signal: /elsewhere/t.turn-ended", undefined],
  ["check", "something else", "unknown wake: something else"],
];

for (const [kind, payload, item] of PAYLOADS) {
  scenario(`a row ${kind} "${payload}" becomes ${item ?? "nothing"} (D27-D29)`, async (home) => {
    home.report("working: a", "busy").report("working: a\npaused: until noon", "idle");
    home.row(kind, "k", payload);
    await home.start({ FM_INJECT_SKIP: "check: noisy", TURNGUARD_DELIVER: undefined });
    await until(
      () => home.text("state/.watcher-down").startsWith("acked:") && home.queue.length === 0,
      20_000,
    );
    assertEquals(home.items, item === undefined ? [] : [item]);
  });
}

// The end.

scenario("TERM delivers once more, ends the watcher and leaves nothing (D30)", async (home) => {
  const daemon = await home.start({ FM_ESCALATE_BATCH_SECS: "9999" });
  const watcher = await home.untilWatched();
  home.report("blocked: y");
  await until(() => home.items.length > 0, 20_000);
  daemon.signal("SIGTERM");
  assertEquals((await daemon.ended()).status, 0);
  assertEquals(home.delivered.length, 1);
  assertEquals([isThere(home, DAEMON_LOCK), isThere(home, PID_FILE)], [false, false]);
  assertEquals([isRunning(watcher), isThere(home, "state/.watch.lock")], [false, false]);
  const left = [...Deno.readDirSync(home.home.folder)].map(({ name }) => name);
  assertEquals(left.filter((name) => name.startsWith("fm-watch.")), []);
});

scenario("the guard allows what a real daemon supervises (D34)", async (home) => {
  await home.start();
  await home.untilWatched();
  const stdin = '{"stop_hook_active":false}';
  const run = await runTurnguard(["stop", ...home.home.args], { stdin });
  assertEquals(verdictOf(run), "allow");
});

scenario("after a kill of both the next one takes both locks (D41)", async (home) => {
  const first = await home.start({ FM_ESCALATE_BATCH_SECS: "9999" });
  const watcher = await home.untilWatched();
  await first.end();
  Deno.kill(watcher, "SIGKILL");
  await until(() => !isRunning(watcher));
  home.row("check", "c", "check: c");
  await home.start({ FM_ESCALATE_BATCH_SECS: "9999" });
  await until(() => home.items.includes("check: c"), 20_000);
  await until(() => home.queue.length === 0);
});

scenario("an alert that hangs is ended, and the next channel asked (D42)", async (home) => {
  home.home.write("answer", "75");
  home.home.write(
    "config/wedge-alarm",
    [
      "# channels",
      "command:sleep 600",
      `command:cat >'${home.path("alert")}'`,
      "",
    ].join("\n"),
  );
  await home.start({
    FM_MAX_DEFER_SECS: "1",
    FM_WEDGE_ALARM_EXEC: undefined,
    FM_WEDGE_ALARM_TIMEOUT_SECS: "1",
  });
  await home.untilWatched();
  home.report("blocked: y");
  await until(() => home.text("alert") !== "", 30_000);
  assertStringIncludes(home.text("alert"), "fm away-mode inject WEDGED: ");
  assertStringIncludes(home.log, "the alert by command failed");
});
