/**
 * The watcher's life: how it comes to its lock, what wakes it, what it absorbs, and how it goes.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { isRunning } from "../support/claude_session.ts";
import { exists, textOf } from "../support/files.ts";
import { handleWakes } from "../support/handle_wakes.ts";
import { makeHome, type TestHome } from "../support/home.ts";
import { deadPid, identityOf, type Sleeper, until } from "../support/processes.ts";
import { TURNGUARD } from "../support/turnguard.ts";
import { beatMs, marker, queued, startWatch, type Variables, watch } from "../support/watching.ts";

const LOCK = "state/.watch.lock";
const MARKER = "state/.watcher-down";
const RESURFACE = "check: rearm-resurface\n";

function scenario(name: string, work: (home: TestHome) => Promise<void>): void {
  Deno.test(`watcher: ${name}`, async () => {
    await using home = makeHome();
    await work(home);
  });
}

/** A program that says what every task's crew is doing. */
function crew(home: TestHome, answer: string): Variables {
  home.write("crew", `#!/bin/sh\nprintf '%s\\n' '${answer}'\n`);
  Deno.chmodSync(home.path("crew"), 0o755);
  return { FM_CREW_STATE_BIN: home.path("crew") };
}

const WORKING = "state: working · source: pane · x";

function triage(home: TestHome): string {
  return textOf(home.path("state/.watch-triage.log"));
}

/** A holder that ends its own way when it is asked to; its beat is of long ago. */
async function stalledHolder(home: TestHome, onTerm: string): Promise<Sleeper> {
  const script = `${onTerm}; while :; do sleep 0.1; done`;
  const holder = home.sleeper("/bin/bash", ["-c", script]);
  await home.recordWatcher(holder.pid);
  home.beatAt(946_684_800);
  return holder;
}

const BOUNDS = { FM_GUARD_GRACE: "1", FM_WATCHER_STALL_BOUND: "3" };

// Acquisition.

scenario("of two started together one stays, the other says who (W1)", async (home) => {
  const both = [startWatch(home), startWatch(home)];
  const started = await Promise.all(both);
  const loser = await Promise.race(started.map((one) => one.ended()));
  const pid = textOf(home.path(LOCK, "pid")).trim();
  assertEquals(loser, { status: 0, stdout: `watcher: already running pid ${pid}\n`, stderr: "" });
  for (const one of started) await one[Symbol.asyncDispose]();
});

scenario("a dead holder's lock is stolen, and the gap announced (W2)", async (home) => {
  home.write(`${LOCK}/pid`, `${await deadPid()}\n`);
  assertEquals(await watch(home), { status: 0, stdout: RESURFACE, stderr: "" });
  assertEquals([marker(home), exists(home.path(LOCK))], ["announced:downtime", false]);
});

/** Holders that are left alone: age of beat and lock, variables, and what is said. */
const REFUSALS: readonly (readonly [
  name: string,
  beat: number | undefined,
  env: Variables,
  said: RegExp,
])[] = [
  ["10 old (W3)", 10, {}, /^0 watcher: already running pid [0-9]+\n$/],
  [
    "400 old (W4)",
    400,
    { FM_WATCHER_STALL_BOUND: "900" },
    /^1 watcher: lock held by live pid [0-9]+ but heartbeat is stale for 40[0-9]s \(>300s\); inspect/,
  ],
  ["without a beat (W9)", undefined, {}, /^1 watcher: [^\n]* but no heartbeat exists; inspect/],
  ["350 old with a slow poll (W10)", 350, { FM_POLL: "300" }, /^0 watcher: already running pid/],
];

for (const [name, beat, env, said] of REFUSALS) {
  scenario(`refuses beside a live holder ${name}`, async (home) => {
    const holder = await home.watcher(beat ?? 0);
    if (beat === undefined) {
      home.remove("state/.last-watcher-beat");
      const old = Date.now() / 1000 - 400;
      // The lock itself is old, not its target; only another link has times of its own.
      await setLinkTime(home.path(LOCK), old);
    }
    const { status, stdout, stderr } = await watch(home, env);
    assertMatch(`${status} ${stdout}${stderr}`, said);
    assert(isRunning(holder.pid));
  });
}

async function setLinkTime(path: string, second: number): Promise<void> {
  const done = await new Deno.Command("/usr/bin/touch", {
    args: ["-h", "-d", `@${Math.floor(second)}`, path],
  }).output();
  assert(done.success);
}

scenario("a stalled holder is asked to end and replaced (W5)", async (home) => {
  const holder = await stalledHolder(home, "trap 'exit 0' TERM");
  const { status, stdout } = await watch(home, BOUNDS);
  assertMatch(
    `${status} ${stdout}`,
    new RegExp(
      `^0 watcher: replaced stalled pid ${holder.pid} ` +
        `\\(beacon [0-9]+s past hard bound 3s\\)\n${RESURFACE}$`,
    ),
  );
});

scenario("a stalled holder that ignores TERM keeps its lock (W6)", async (home) => {
  const holder = await stalledHolder(home, "trap '' TERM");
  const { status, stdout, stderr } = await watch(home, BOUNDS);
  assertEquals([status, stdout], [1, ""]);
  assertStringIncludes(stderr, `lock held by live pid ${holder.pid} but heartbeat is stale for `);
  assertStringIncludes(stderr, "it was sent TERM and is still there");
  assert(isRunning(holder.pid));
});

scenario("a stalled holder without a proof is never signalled (W7)", async (home) => {
  const mark = home.path("termed");
  const holder = await stalledHolder(home, `trap ': >${mark}' TERM`);
  home.write(`${LOCK}/pid-identity`, "linux-starttime=1 cmdline-hex=00\n");
  const { status, stderr } = await watch(home, BOUNDS);
  assertEquals([status, exists(mark), isRunning(holder.pid)], [1, false, true]);
  assert(!stderr.includes("TERM"), stderr);
});

scenario("a rival that took the lock meanwhile is not asked to end (W8)", async (home) => {
  const rival = home.sleeper("/bin/bash", ["-c", "trap '' TERM; while :; do sleep 0.1; done"]);
  const identity = home.path("rival-identity");
  Deno.writeTextFileSync(identity, `${await identityOf(rival.pid)}\n`);
  const lock = home.path(LOCK);
  const handOver = `cp ${identity} ${lock}/pid-identity; echo ${rival.pid} >${lock}/pid; exit 0`;
  await stalledHolder(home, `trap '${handOver}' TERM`);
  const { status, stdout, stderr } = await watch(home, BOUNDS);
  assertEquals([status, stdout], [1, ""]);
  assertStringIncludes(stderr, `lock held by live pid ${rival.pid} but`);
  assert(!stderr.includes("TERM"), stderr);
  assert(isRunning(rival.pid));
});

scenario(
  "a setting that it cannot run by is told before anything is touched (A18)",
  async (home) => {
    const run = await watch(home, { FM_PROCEVENT_LAUNCH_CONFIRM_SECONDS: "0" });
    const because = "FM_PROCEVENT_LAUNCH_CONFIRM_SECONDS must be whole seconds from 1 to 600";
    assertEquals(run, { status: 1, stdout: `watcher: FAILED - ${because}\n`, stderr: "" });
    assertEquals(exists(home.path(LOCK)), false);
  },
);

// Its life.

scenario("leaves in silence when somebody else has its lock (W11)", async (home) => {
  await using watcher = await startWatch(home);
  const other = home.sleeper();
  home.write(`${LOCK}/pid`, `${other.pid}\n`);
  assertEquals(await watcher.ended(), { status: 0, stdout: "", stderr: "" });
  assertEquals(textOf(home.path(LOCK, "pid")), `${other.pid}\n`);
});

scenario("beats on while it is idle, and not while it is stopped (W12, W13)", async (home) => {
  await using watcher = await startWatch(home);
  const first = beatMs(home);
  await until(() => beatMs(home) > first);
  watcher.signal("SIGSTOP");
  const stopped = beatMs(home);
  home.write("state/.wake-queue");
  watcher.signal("SIGCONT");
  await until(() => beatMs(home) > stopped);
});

scenario("says so when the home is gone, and makes nothing anew", async (home) => {
  await using watcher = await startWatch(home);
  Deno.renameSync(home.root, `${home.root}.moved`);
  const { status, stderr } = await watcher.ended();
  Deno.renameSync(`${home.root}.moved`, home.root);
  assertEquals([status, stderr], [1, `watcher: ${home.root} is gone; nothing was recreated\n`]);
});

for (const [signal, status] of [["TERM", 143], ["INT", 130], ["HUP", 129]] as const) {
  scenario(`${signal} publishes the downtime and lets the lock go`, async (home) => {
    await using watcher = await startWatch(home);
    watcher.signal(`SIG${signal}`);
    assertEquals(await watcher.ended(), { status, stdout: "", stderr: "" });
    assertEquals([marker(home), exists(home.path(LOCK))], ["pending:downtime", false]);
  });
}

scenario("a busy marker lock does not hold up the way out (W41)", async (home) => {
  await using watcher = await startWatch(home);
  home.write("state/.watcher-down.lock/pid", `${home.sleeper().pid}\n`);
  watcher.signal("SIGTERM");
  const { status, stderr } = await watcher.ended();
  const text = "watcher: recovery state could not be persisted; retaining stale lock evidence\n";
  assertEquals([status, stderr], [143, text]);
  assertEquals(textOf(home.path(LOCK, "pid")), `${watcher.pid}\n`);
  home.remove("state/.watcher-down.lock");
  assertEquals((await watch(home)).stdout, RESURFACE);
});

// Signals.

scenario("a report wakes, queued first, marked, then told (W14)", async (home) => {
  await using watcher = await startWatch(home);
  const path = home.path("state/t.status");
  home.write("state/t.status", "done: x\n");
  assertEquals(await watcher.ended(), { status: 0, stdout: `signal: ${path}\n`, stderr: "" });
  assertEquals(queued(home), [`signal\tt.status\tsignal: ${path}`]);
  assertMatch(textOf(home.path("state/.seen-t_status")), /^v2\tr1:[0-9a-f]+\t8@(?:weak|strong):/);
});

/** A line that was added while the crew is proven to work, and what the watcher makes of it. */
const CREW: readonly (readonly [string, (home: TestHome) => unknown, "absorbed" | "wake"])[] = [
  ["working (W15)", (home) => home.write("state/t.status", "working: y\n"), "absorbed"],
  ["working of a secondmate (W16)", (home) => {
    home.write("state/t.meta", "kind=secondmate\n").write("state/t.status", "working: y\n");
  }, "wake"],
  ["prose after a progress verb (W17)", (home) => {
    home.write("state/t.status", "working: merged #7\n");
  }, "absorbed"],
  ["an earlier line of the span (W18)", (home) => {
    home.write("state/t.status", "blocked: a\nworking: b\n");
  }, "wake"],
  ["working in away mode (W19)", (home) => {
    home.away().write("state/t.status", "working: y\n");
  }, "wake"],
  ["a turn's end", (home) => home.write("state/t.turn-ended"), "absorbed"],
  [
    "a log that is a link",
    (home) => Deno.symlinkSync("/dev/null", home.path("state/t.status")),
    "wake",
  ],
];

for (const [name, report, outcome] of CREW) {
  scenario(`with a working crew, ${name}: ${outcome}`, async (home) => {
    await using watcher = await startWatch(home, crew(home, WORKING));
    report(home);
    if (outcome === "wake") {
      assertMatch((await watcher.ended()).stdout, /^signal: [^\n]*\/t\.[a-z-]+\n$/);
      return;
    }
    await until(() => triage(home).includes("absorbed benign signal: "));
    assertEquals([queued(home), isRunning(watcher.pid)], [[], true]);
  });
}

scenario("a crew that answers otherwise proves nothing", async (home) => {
  home.write("state/t.status", "working: y\n");
  const { stdout } = await watch(home, crew(home, "state: idle · source: pane · x"));
  assertMatch(stdout, /^signal: /);
});

scenario("reports of one turn are one wake with a row each (W20)", async (home) => {
  await using watcher = await startWatch(home, { FM_SIGNAL_GRACE: "1" });
  home.write("state/t.status", "done: x\n");
  home.write("state/t.turn-ended");
  const reason = `signal: ${home.path("state/t.status")} ${home.path("state/t.turn-ended")}`;
  assertEquals((await watcher.ended()).stdout, `${reason}\n`);
  assertEquals(queued(home), [
    `signal\tt.status\t${reason}`,
    `signal\tt.turn-ended\t${reason}`,
  ]);
});

scenario("a decision is named in its row, and told as a signal", async (home) => {
  home.write("state/t.status", "needs-decision: q\n");
  const path = home.path("state/t.status");
  assertEquals((await watch(home)).stdout, `signal: ${path}\n`);
  assertEquals(queued(home), [`signal\tt.status\tneeds-decision: ${path}`]);
});

scenario("a report from before its start wakes in the first cycle (W21)", async (home) => {
  home.write("state/t.turn-ended");
  assertMatch((await watch(home)).stdout, /^signal: [^\n]*t\.turn-ended\n$/);
});

scenario("a marker of an older build costs one wake and is rewritten (W22)", async (home) => {
  home.write("state/t.status", "done: x\n").write("state/.seen-t_status", "12:170000");
  assertMatch((await watch(home)).stdout, /^signal: /);
  assertMatch(textOf(home.path("state/.seen-t_status")), /^v2\t/);
});

scenario("what cannot be queued is not marked as seen (W23)", async (home) => {
  home.write("state/t.status", "done: x\n").write("no-folder");
  const run = await watch(home, { FM_WAKE_QUEUE: home.path("no-folder/queue") });
  assertEquals([run.status, run.stdout], [1, ""]);
  assertEquals(exists(home.path("state/.seen-t_status")), false);
});

scenario("growth that the home wrote itself is no signal", async (home) => {
  const { dev, ino } = Deno.statSync(
    home.write("state/t.status", "done: x\n").path("state/t.status"),
  );
  home.write("state/.t.home-appends", `v1\nident=weak:${dev}:${ino}\n0\t8\n`);
  await using watcher = await startWatch(home);
  const first = beatMs(home);
  await until(() => beatMs(home) > first);
  assertEquals(queued(home), []);
  Deno.writeTextFileSync(home.path("state/t.status"), "z", { append: true });
  assertMatch((await watcher.ended()).stdout, /^signal: /);
});

scenario("what nobody could be told of stays queued, with status 1", async (home) => {
  home.write("state/t.status", "done: x\n");
  const full = new Deno.Command("/bin/bash", {
    args: ["-c", 'exec "$@" >/dev/full', "-", TURNGUARD, "watch", ...home.args],
    env: { FM_SIGNAL_GRACE: "0" },
  });
  assertEquals((await full.output()).code, 1);
  assertEquals([queued(home).length, marker(home)], [1, "pending:downtime"]);
});

// Heartbeats.

scenario("a heartbeat without news is absorbed and slows down (W34)", async (home) => {
  await using watcher = await startWatch(home, { FM_HEARTBEAT: "1" });
  await until(() => triage(home).includes("absorbed heartbeat (no captain-relevant change)"));
  assertMatch(textOf(home.path("state/.heartbeat-streak")), /^[1-9]\n$/);
  assert(isRunning(watcher.pid));
});

scenario("in away mode every due heartbeat wakes (W36)", async (home) => {
  home.away();
  assertEquals((await watch(home, { FM_HEARTBEAT: "1" })).stdout, "heartbeat\n");
  assertEquals(queued(home), ["heartbeat\theartbeat\theartbeat"]);
  assertEquals(textOf(home.path("state/.heartbeat-streak")), "1\n");
});

scenario("a heartbeat surfaces what no signal did, once (W37)", async (home) => {
  const env = { ...crew(home, WORKING), FM_HEARTBEAT: "1" };
  home.write("state/t.status", "working: y\n");
  await using watcher = await startWatch(home, env);
  await until(() => triage(home).includes("absorbed benign"));
  // As a watcher leaves it that has marked the report and was killed before it could tell.
  const marked = textOf(home.path("state/.seen-t_status"));
  home.remove("state/.hb-surfaced-t");
  Deno.writeTextFileSync(home.path("state/t.status"), "failed: y\n");
  assert(marked !== "");
  assertMatch((await watcher.ended()).stdout, /^(?:heartbeat|signal: [^\n]*)\n$/);
});

// Recovery.

scenario("a row that another program appends is announced (W38)", async (home) => {
  home.write(MARKER, "acked:handling:x\n");
  await using watcher = await startWatch(home);
  home.write("state/.wake-queue", "1700000000\t1\tcheck\tother\tcheck: other\n");
  assertEquals((await watcher.ended()).stdout, RESURFACE);
  assertEquals(marker(home), "announced:downtime");
});

scenario("a handling successor announces nothing, and signals still wake (W39)", async (home) => {
  home.write(MARKER, "pending:downtime:g\n");
  await using watcher = await startWatch(home, { FM_WATCH_HANDLING_SUCCESSOR: "1" });
  home.write("state/t.turn-ended");
  assertMatch((await watcher.ended()).stdout, /^signal: /);
});

scenario("a marker that is a directory is set aside, and told once (W40)", async (home) => {
  home.write(`${MARKER}/x`);
  assertEquals((await watch(home)).stdout, RESURFACE);
  await handleWakes(home);
  await using watcher = await startWatch(home);
  assert(isRunning(watcher.pid));
  const aside = [...Deno.readDirSync(home.state)].map(({ name }) => name)
    .filter((name) => name.startsWith(".watcher-down.invalid."));
  assertEquals(aside.length, 1);
});

// Process-event sources.

const CAPTURED = "1700000000\t1\tcheck\tprocevent:src:1\tcheck: procevent plain src 1\n";
const SEEN = `state/.seen-procevent-${new TextEncoder().encode("procevent:src:1").toHex()}`;

scenario("a captured result is told once while it is queued (W32)", async (home) => {
  home.write("state/.wake-queue", CAPTURED).write("state/.wake-queue.seq", "1\n");
  const told = "check: process-event result captured: procevent:src:1\n";
  assertEquals((await watch(home)).stdout, told);
  assert(exists(home.path(SEEN)));
  assertEquals((await watch(home)).stdout, RESURFACE);
});

scenario("a captured result that nobody could be told of is told later (W33)", async (home) => {
  home.write("state/.wake-queue", CAPTURED).write("state/.wake-queue.seq", "1\n");
  const full = new Deno.Command("/bin/bash", {
    args: ["-c", 'exec "$@" >/dev/full', "-", TURNGUARD, "watch", ...home.args],
  });
  assertEquals((await full.output()).code, 1);
  assertEquals([exists(home.path(SEEN)), queued(home).length], [false, 1]);
  assertMatch((await watch(home)).stdout, /^check: process-event result captured: /);
});

scenario("the delivery is recorded with pid and identity", async (home) => {
  await using watcher = await startWatch(home);
  const identity = await identityOf(watcher.pid);
  home.write("state/t.turn-ended");
  await watcher.ended();
  assertEquals(
    textOf(home.path("state/.watch-deliveries.log")),
    `${watcher.pid}\t${identity}\tsignal: ${home.path("state/t.turn-ended")}\n`,
  );
});

// Event sources.

scenario("a program of the home's own shortens the wait", async (home) => {
  home.write("wait", `#!/bin/sh\necho "$1" >>'${home.path("asked")}'\nsleep 0.05\n`);
  Deno.chmodSync(home.path("wait"), 0o755);
  await using watcher = await startWatch(home, {
    FM_POLL: "9",
    TURNGUARD_EVENT_WAIT: home.path("wait"),
  });
  await until(() => textOf(home.path("asked")).split("\n").length > 3);
  assertEquals(textOf(home.path("asked")).split("\n")[0], "9");
  assert(isRunning(watcher.pid));
});

scenario("a program that fails three times in a row is not asked again", async (home) => {
  home.write("wait", `#!/bin/sh\necho x >>'${home.path("asked")}'\nexit 2\n`);
  Deno.chmodSync(home.path("wait"), 0o755);
  await using watcher = await startWatch(home, {
    FM_POLL: "0.1",
    TURNGUARD_EVENT_WAIT: home.path("wait"),
  });
  await until(() => textOf(home.path("asked")) === "x\nx\nx\n");
  const before = beatMs(home);
  await until(() => beatMs(home) > before + 300);
  assertEquals(textOf(home.path("asked")), "x\nx\nx\n");
  assert(isRunning(watcher.pid));
});
