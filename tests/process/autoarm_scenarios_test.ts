/**
 * The auto-arm's scenarios, each with real processes: a session named `claude`, the hook below it, and
 * an arm that the home brings itself.
 *
 * Numbers in the names are those of the written scenarios.
 *
 * @module
 */

import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import {
  armRuns,
  type ClaudeSession,
  type HookOptions,
  isRunning,
  ledgerOf,
  openSession,
  says,
  STOP_PAYLOAD,
  writeArm,
} from "../support/claude_session.ts";
import { exists, textOf } from "../support/files.ts";
import { makeHome, type TestHome } from "../support/home.ts";
import { asOtherUser, deadPid, identityOf, isSuperuser, until } from "../support/processes.ts";
import { snapshot } from "../support/snapshot.ts";
import type { RunResult } from "../support/turnguard.ts";

const LEDGER = "state/.claude-autoarm-epoch";
const OWNER_LOCK = "state/.claude-autoarm.lock";
const NOTICE = "state/.claude-autoarm-failure-notified";
const ALARM = "state/.claude-autoarm-failure-alarmed";
const BUDGET = "state/.turnend-claude-blocks";
const EPISODE = [BUDGET, NOTICE, ALARM];

const STALE_WAKE = says("watcher: started pid=1 (beacon fresh)", "stale: w x");
const FAILED_ARM = [says("watcher: FAILED - x"), "exit 1"];

/** Waits at a gate that the test opens, and says so. */
const GATED = ["echo $$ >arm.pid", ": >armed", "read -r _ <gate"];

/** A home with a task, the arm's evidence of downtime, and a session that holds it. */
async function supervised(home: TestHome, ...arm: readonly string[]): Promise<ClaudeSession> {
  home.task().write("state/.watcher-down", "pending:downtime:g1\n");
  writeArm(home, ...(arm.length === 0 ? [STALE_WAKE] : arm));
  return (await openSession(home)).hold();
}

function scenario(
  name: string,
  work: (home: TestHome) => Promise<void>,
  home: () => TestHome = makeHome,
): void {
  Deno.test(`autoarm: ${name}`, async () => {
    await using made = home();
    await work(made);
  });
}

function assertSilent(result: RunResult): void {
  assertEquals(result, { status: 0, stdout: "", stderr: "" });
}

function assertDelivers(result: RunResult, ...texts: readonly string[]): void {
  assertEquals({ ...result, stderr: "" }, { status: 2, stdout: "", stderr: "" }, result.stderr);
  for (const text of texts) assertStringIncludes(result.stderr, text);
}

/** What a delivered wake looks like, in its output and on disk. */
function assertWoke(home: TestHome, result: RunResult): void {
  assertDelivers(
    result,
    "stale: w x\n",
    "bin/fm-wake-drain.sh",
    "WAKE_ACK_REQUIRED",
    "--ack-through",
    "do NOT run bin/fm-watch-arm.sh",
  );
  assertEquals(result.stderr.split("firstmate watcher wake").length, 2);
  assertEquals(ledgerOf(home)["outcome"], "rewake");
  assertNoLitter(home);
}

function assertFirstFailure(home: TestHome, result: RunResult, attempts = 2): void {
  assertDelivers(
    result,
    "automatic supervision mechanism is broken",
    `after ${attempts} bounded attempts`,
    "watcher: FAILED - x",
    `Episode state is recorded in ${home.path(LEDGER)}`,
    "Do not launch a manual background arm",
  );
  assertMatch(result.stderr, /^firstmate watcher auto-arm FAILED - /);
  assertFalse(result.stderr.includes("bin/fm-watch-arm.sh"));
  assertEquals(ledgerOf(home)["outcome"], "failed");
  assert(exists(home.path(NOTICE)));
}

function assertLaterFailure(home: TestHome, result: RunResult): void {
  assertDelivers(result, home.path(LEDGER), "(outcome=failed-suppressed)");
  assertMatch(result.stderr, /^firstmate watcher auto-arm STILL FAILING - /);
  assertEquals(ledgerOf(home)["outcome"], "failed-suppressed");
}

/** No lock and no temporary file is left in the state directory. */
function assertNoLitter(home: TestHome): void {
  const litter = [...Deno.readDirSync(home.state)].map((entry) => entry.name)
    .filter((name) => /\.lock\.|\.claude-autoarm\.lock|\.tmp\.|\.claude-autoarm-output/.test(name))
    .filter((name) => !name.startsWith(".lock") && !name.startsWith(".watch.lock"));
  assertEquals(litter, []);
}

function removeEpisode(home: TestHome): void {
  for (const name of EPISODE) if (exists(home.path(name))) home.remove(name);
}

function noEpisode(home: TestHome): boolean {
  return EPISODE.every((name) => !exists(home.path(name)));
}

function writeEpisode(home: TestHome, ...names: readonly string[]): void {
  for (const name of names) {
    home.write(name, name === BUDGET ? "session=S1\ncount=2\nepoch=1\n" : "");
  }
}

scenario("A1 a wake is delivered once and bound to its session and downtime", async (home) => {
  await using session = await supervised(home);
  const hook = await session.autoarm();
  assertWoke(home, await hook.ended());
  const { updated_at, ...words } = ledgerOf(home);
  assertMatch(updated_at ?? "", /^[0-9]+$/);
  assertEquals(words, {
    epoch: "1",
    owner_pid: String(hook.pid),
    outcome: "rewake",
    session_pid: String(session.pid),
    recovery_generation: "g1",
  });
  const [, identity, ...rest] = textOf(home.path(LEDGER)).split("\n");
  assertMatch(identity ?? "", /^linux-starttime=[0-9]+ cmdline-hex=[0-9a-f]+$/);
  assertEquals(rest, [""]);
  assertEquals(armRuns(home), 1);
});

scenario("A2 a wake with a healthy successor is still a wake", async (home) => {
  await using session = await supervised(home);
  await home.watcher();
  const before = snapshot(home.path("state/.watch.lock.owner.k3Qz9B"));
  assertWoke(home, await session.fire());
  assertEquals(snapshot(home.path("state/.watch.lock.owner.k3Qz9B")), before);
});

scenario("A3 no open downtime, no wake", async (home) => {
  await using session = await supervised(home);
  const markers = [
    undefined,
    "pending:handling:g\n",
    "announced:handling:g\n",
    "acked:downtime:g\n",
    "pending:downtime:g",
    "pending:downtime:a b\n",
    "pending:downtime:g\npending:downtime:g\n",
  ];
  for (const [index, marker] of markers.entries()) {
    if (exists(home.path("state/.watcher-down"))) home.remove("state/.watcher-down");
    if (marker !== undefined) home.write("state/.watcher-down", marker);
    const { status, stdout } = await session.fire();
    assertEquals([status, stdout], [0, ""], String(marker));
    const { epoch, outcome } = ledgerOf(home);
    assertEquals([epoch, outcome], [String(index + 1), "arming"], String(marker));
  }
  home.write("state/.watcher-down", "announced:downtime:g2\n");
  assertWoke(home, await session.fire());
  assertEquals(ledgerOf(home)["recovery_generation"], "g2");
});

scenario("A4 A5 one notice, then failures that say so", async (home) => {
  await using session = await supervised(home, ...FAILED_ARM);
  assertFirstFailure(home, await session.fire());
  assertEquals(armRuns(home), 2);
  assertLaterFailure(home, await session.fire());
  assertEquals(armRuns(home), 4);
  assertNoLitter(home);
});

for (const [text, runs] of [["1", 1], ["3", 3], ["9", 2], ["x", 2]] as const) {
  scenario(`A6 with ${text} attempts configured the arm runs ${runs} time(s)`, async (home) => {
    await using session = await supervised(home, ...FAILED_ARM);
    const result = await session.fire({ env: { FM_CLAUDE_AUTOARM_ATTEMPTS: text } });
    assertFirstFailure(home, result, runs);
    assertEquals(armRuns(home), runs);
  });
}

scenario("A7 an attachment to no watcher is a failure", async (home) => {
  await using session = await supervised(home, says("watcher: attached pid=9 (beacon 1s)"));
  assertDelivers(await session.fire(), "after 2 bounded attempts", "watcher: attached pid=9");
  assertEquals(ledgerOf(home)["outcome"], "failed");
});

scenario("A8 A9 A10 recovery ends the episode, or holds the turn open", async (home) => {
  await using session = await supervised(home, says("watcher: attached pid=9 (beacon 1s)"));
  await home.watcher();
  writeEpisode(home, ...EPISODE);
  assertSilent(await session.fire());
  assertEquals(ledgerOf(home)["outcome"], "clean");
  assert(noEpisode(home));

  const holder = home.sleeper();
  home.write(`${BUDGET}.lock/pid`, `${holder.pid}\n`);
  writeEpisode(home, BUDGET, NOTICE);
  assertDelivers(
    await session.fire(),
    "firstmate watcher auto-arm HELD THIS TURN OPEN - ",
    "outcome=failed-suppressed",
    home.path(NOTICE),
    home.path(ALARM),
    home.path(`${BUDGET}.lock`),
  );
  assertEquals(ledgerOf(home)["outcome"], "failed-suppressed");
  assert(exists(home.path(BUDGET)) && exists(home.path(NOTICE)));

  writeEpisode(home, ALARM);
  assertSilent(await session.fire());
  assertEquals(ledgerOf(home)["outcome"], "failed-suppressed");
});

scenario("A11 after the alarm nothing is delivered", async (home) => {
  await using session = await supervised(home);
  writeEpisode(home, NOTICE, ALARM);
  assertSilent(await session.fire());
  assertEquals(ledgerOf(home)["outcome"], "failed-suppressed");
  assert(exists(home.path(NOTICE)) && exists(home.path(ALARM)));
});

scenario("A12 a need that is gone is no wake", async (home) => {
  await using session = await supervised(home, "rm state/task1.meta", says("signal: a"));
  assertSilent(await session.fire());
  assertEquals(ledgerOf(home)["outcome"], "clean");
});

scenario("A13 away mode that comes while the arm runs", async (home) => {
  await using session = await supervised(home, "echo away >state/.afk", STALE_WAKE);
  assertSilent(await session.fire());
  assertEquals(ledgerOf(home)["outcome"], "afk");
});

/** Homes that stay byte for byte as they are. */
const INERT: readonly (readonly [string, (home: TestHome) => unknown, (() => TestHome)?])[] = [
  ["A14 away mode", (home) => home.away()],
  ["A15 an idle home", (home) => home.remove("state/task1.meta")],
  ["A16 a linked worktree", () => {}, () => makeHome({ git: "linked-worktree" })],
  ["A18 no session lock", (home) => home.remove("state/.lock")],
  ["A18 an empty session lock", (home) => home.write("state/.lock", "")],
  [
    "A18 a session lock of two lines",
    (home) => home.write("state/.lock", `${textOf(home.path("state/.lock"))}more\n`),
  ],
  ["A20 a link to a dead holder's lock", async (home) => {
    home.write("elsewhere", `${await deadPid()}\n`).remove("state/.lock");
    Deno.symlinkSync(home.path("elsewhere"), home.path("state/.lock"));
  }],
  ["A29 a guard's last decision", (home) => {
    const sleeper = home.sleeper();
    home.write(`${OWNER_LOCK}/pid`, `${sleeper.pid}\n`);
    home.write(`${OWNER_LOCK}/role`, "terminal-check\n");
  }],
  ["14 an owner lock with an unknown role", (home) => {
    const sleeper = home.sleeper();
    home.write(`${OWNER_LOCK}/pid`, `${sleeper.pid}\n`);
    home.write(`${OWNER_LOCK}/role`, "somebody\n");
  }],
  ["A27 a legacy claim that the ledger does not name", (home) => {
    const sleeper = home.sleeper();
    home.write(`${OWNER_LOCK}/pid`, `${sleeper.pid}\n`);
    home.write(`${OWNER_LOCK}/role`, "autoarm\n");
    home.write(LEDGER, "epoch=464 owner_pid=1 outcome=rewake updated_at=1\n");
  }],
  ["14 a directory in the place of the ledger", (home) => home.write(`${LEDGER}/x`)],
];

for (const [name, arrange, make] of INERT) {
  scenario(`${name} stays as it is`, async (home) => {
    await using session = await supervised(home);
    await arrange(home);
    const before = snapshot(home.root);
    assertSilent(await session.fire());
    assertEquals(snapshot(home.root), before);
    assertEquals(armRuns(home), 0);
  }, make);
}

scenario("A17 a secondmate home is supervised", async (home) => {
  home.marker();
  await using session = await supervised(home);
  assertWoke(home, await session.fire());
}, () => makeHome({ git: "linked-worktree" }));

scenario("A19 another live session keeps its lock", async (home) => {
  await using other = await openSession(home);
  await using session = await supervised(home);
  other.hold();
  const before = snapshot(home.root);
  assertSilent(await session.fire());
  assertEquals(snapshot(home.root), before);
});

scenario("A20 A21 a dead holder is replaced, but not for an idle or away home", async (home) => {
  await using session = await supervised(home);
  const dead = await deadPid();
  session.hold(dead);
  home.away();
  assertSilent(await session.fire());
  home.remove("state/.afk").remove("state/task1.meta");
  assertSilent(await session.fire());
  home.task();
  assertEquals(lockText(home), `${dead}\n`);
  assertFalse(exists(home.path(LEDGER)));
  assertWoke(home, await session.fire());
  assertEquals(lockText(home), `${session.pid}\n`);
});

function lockText(home: TestHome): string {
  return textOf(home.path("state/.lock"));
}

scenario("A20 a holder that is alive but no harness is replaced", async (home) => {
  await using session = await supervised(home);
  session.hold(home.sleeper().pid);
  assertWoke(home, await session.fire());
  assertEquals(lockText(home), `${session.pid}\n`);
});

scenario("A22 the outer one of nested sessions may hold the lock", async (home) => {
  home.task().write("state/.watcher-down", "pending:downtime:g1\n");
  writeArm(home, STALE_WAKE);
  await using session = await openSession(home, { outer: 2 });
  const [outermost = 0] = session.pids;
  assert(outermost !== session.pid);
  session.hold(outermost);
  assertWoke(home, await session.fire());
  assertEquals(ledgerOf(home)["session_pid"], String(outermost));
});

/** Makes the gate of {@link GATED}, and waits until an arm stands before it. */
async function makeGate(home: TestHome): Promise<void> {
  const { success } = await new Deno.Command("mkfifo", { args: [home.path("gate")] }).output();
  assert(success);
}

async function untilArmed(home: TestHome): Promise<void> {
  await until(() => exists(home.path("armed")));
}

async function openGate(home: TestHome): Promise<void> {
  await Deno.writeTextFile(home.path("gate"), "go\n");
}

scenario("A23 of two firings one arms and the other stands down", async (home) => {
  await using session = await supervised(home, ...GATED, STALE_WAKE);
  await makeGate(home);
  const first = await session.autoarm();
  await untilArmed(home);
  const second = await session.autoarm();
  assertSilent(await second.ended());
  await openGate(home);
  assertWoke(home, await first.ended());
  assertEquals(armRuns(home), 1);
  assertEquals(ledgerOf(home)["epoch"], "1");
});

scenario("A24 an open claim is left alone", async (home) => {
  await using session = await supervised(home);
  const owner = await session.start(["/bin/sleep", "600"]);
  home.write(LEDGER, await openClaim(464, owner.pid));
  const before = snapshot(home.root);
  assertSilent(await session.fire());
  assertEquals(snapshot(home.root), before);
});

async function openClaim(epoch: number, owner: number): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  // Until then it is still the shell that starts it.
  await until(() => textOf(`/proc/${owner}/comm`) === "sleep\n");
  return `epoch=${epoch} owner_pid=${owner} outcome=arming updated_at=${now}\n${await identityOf(
    owner,
  )}\n`;
}

/** Ledgers that are no open claim, and the generation that follows each. */
const SUPERSEDED: readonly (readonly [string, (pid: number) => string, string])[] = [
  ["A25 a dead owner", () => "epoch=464 owner_pid=999999 outcome=arming updated_at=1\nx\n", "465"],
  ["14 no identity", (pid) => `epoch=7 owner_pid=${pid} outcome=arming updated_at=1\n`, "8"],
  ["14 another identity", (pid) => `epoch=7 owner_pid=${pid} outcome=arming a=1\nx\n`, "8"],
  ["14 pid 0", () => "epoch=7 owner_pid=0 outcome=arming updated_at=1\nx\n", "8"],
  ["14 a negative pid", () => "epoch=7 owner_pid=-1 outcome=arming updated_at=1\nx\n", "8"],
  ["14 no digits", () => "epoch=7 owner_pid=x outcome=arming updated_at=1\nx\n", "8"],
  ["14 a huge pid", () => "epoch=7 owner_pid=4294967297 outcome=arming updated_at=1\nx\n", "8"],
  ["14 no line feed", (pid) => `epoch=7 owner_pid=${pid} outcome=arming updated_at=1`, "1"],
  ["14 an epoch of letters", (pid) => `epoch=abc owner_pid=${pid} outcome=arming\n`, "1"],
  ["14 a leading zero", () => "epoch=010 owner_pid=1 outcome=clean updated_at=1\n", "11"],
  ["14 an empty ledger", () => "", "1"],
  ["14 a binary ledger", () => "\0\u0001\u0002\n\0", "1"],
];

for (const [name, ledger, epoch] of SUPERSEDED) {
  scenario(`${name}: the next generation is claimed`, async (home) => {
    await using session = await supervised(home);
    home.write(LEDGER, ledger(session.pid));
    assertWoke(home, await session.fire());
    assertEquals(ledgerOf(home)["epoch"], epoch);
  });
}

scenario("14 a ledger from the future is not stuck", async (home) => {
  await using session = await supervised(home);
  const owner = await session.start(["/bin/sleep", "600"]);
  home.write(LEDGER, await openClaim(3, owner.pid));
  const future = Math.floor(Date.now() / 1000) + 5_000;
  Deno.utimeSync(home.path(LEDGER), future, future);
  assertSilent(await session.fire());
  const past = future - 10_000;
  Deno.utimeSync(home.path(LEDGER), past, past);
  assertWoke(home, await session.fire());
  assertEquals(ledgerOf(home)["epoch"], "4");
  assert(isRunning(owner.pid), "a previous owner is never signalled");
});

scenario("A26 a legacy claim whose ledger entry has ended is reclaimed", async (home) => {
  await using session = await supervised(home);
  const sleeper = home.sleeper();
  home.write(`${OWNER_LOCK}/pid`, `${sleeper.pid}\n`);
  home.write(`${OWNER_LOCK}/role`, "autoarm\n");
  home.write(LEDGER, `epoch=464 owner_pid=${sleeper.pid} outcome=rewake updated_at=1\n`);
  assertWoke(home, await session.fire());
  assertEquals(ledgerOf(home)["epoch"], "465");
  assert(isRunning(sleeper.pid), "a process without a recorded identity is not signalled");
});

scenario("A28 a legacy claim of a pid that is another process now is reclaimed", async (home) => {
  await using session = await supervised(home);
  const sleeper = home.sleeper();
  home.write(`${OWNER_LOCK}/pid`, `${sleeper.pid}\n`);
  home.write(`${OWNER_LOCK}/role`, "autoarm\n");
  home.write(`${OWNER_LOCK}/pid-identity`, "linux-starttime=1 cmdline-hex=00\n");
  home.write(LEDGER, `epoch=3 owner_pid=${sleeper.pid} outcome=arming updated_at=1\n`);
  assertWoke(home, await session.fire());
  assertEquals(ledgerOf(home)["epoch"], "4");
  assert(isRunning(sleeper.pid));
});

scenario("A28 a legacy owner that is proven to be itself is asked to end", async (home) => {
  await using session = await supervised(home);
  const sleeper = home.sleeper();
  home.write(`${OWNER_LOCK}/pid`, `${sleeper.pid}\n`);
  home.write(`${OWNER_LOCK}/role`, "autoarm\n");
  home.write(`${OWNER_LOCK}/pid-identity`, `${await identityOf(sleeper.pid)}\n`);
  home.write(LEDGER, `epoch=3 owner_pid=${sleeper.pid} outcome=failed updated_at=1\n`);
  assertWoke(home, await session.fire());
  await until(() => !isRunning(sleeper.pid));
});

/** What a newer owner would have written. */
const NEWER = "epoch=99 owner_pid=1 outcome=arming updated_at=1";

scenario("A30 a superseded owner delivers no wake", async (home) => {
  await using session = await supervised(home, `echo '${NEWER}' >${LEDGER}`, STALE_WAKE);
  assertEquals((await session.fire()).status, 0);
  assertEquals(textOf(home.path(LEDGER)), `${NEWER}\n`);
});

scenario("A31 a superseded owner does not arm again", async (home) => {
  await using session = await supervised(home, `echo '${NEWER}' >${LEDGER}`, ...FAILED_ARM);
  assertSilent(await session.fire());
  assertEquals(textOf(home.path(LEDGER)), `${NEWER}\n`);
  assertEquals(armRuns(home), 1);
  assertFalse(exists(home.path(NOTICE)));
});

scenario("A32 a notice that cannot be left is not delivered either", async (home) => {
  await using session = await supervised(home, ...FAILED_ARM);
  Deno.symlinkSync(home.path("missing/file"), home.path(NOTICE));
  assertEquals((await session.fire()).status, 0);
  assertEquals(ledgerOf(home)["outcome"], "failed");
  home.remove(NOTICE);
  assertFirstFailure(home, await session.fire());
});

scenario("A32b a directory in the place of the notice counts as one", async (home) => {
  await using session = await supervised(home, ...FAILED_ARM);
  Deno.mkdirSync(home.path(NOTICE));
  assertLaterFailure(home, await session.fire());
});

for (const signal of ["TERM", "HUP", "INT"] as const) {
  scenario(`A33 A34 ${signal} while the arm runs is a failure that is told`, async (home) => {
    await using session = await supervised(home, ...GATED);
    await makeGate(home);
    const hook = await session.autoarm();
    await untilArmed(home);
    hook.signal(`SIG${signal}`);
    const result = await hook.ended();
    assertDelivers(result, `INTERRUPTED by ${signal} - `, "Do not launch a manual background arm");
    assertEquals(ledgerOf(home)["outcome"], "failed");
    assert(exists(home.path(NOTICE)));
    assertFalse(isRunning(Number(textOf(home.path("arm.pid")))));
    assertNoLitter(home);
  });
}

scenario("A35 TERM in an episode is a later failure", async (home) => {
  await using session = await supervised(home, ...GATED);
  await makeGate(home);
  writeEpisode(home, NOTICE);
  const hook = await session.autoarm();
  await untilArmed(home);
  hook.signal("SIGTERM");
  assertLaterFailure(home, await hook.ended());
});

scenario("A36 TERM after the alarm is silent", async (home) => {
  await using session = await supervised(home, ...GATED);
  await makeGate(home);
  writeEpisode(home, NOTICE, ALARM);
  const hook = await session.autoarm();
  await untilArmed(home);
  hook.signal("SIGTERM");
  assertSilent(await hook.ended());
  assertEquals(ledgerOf(home)["outcome"], "failed-suppressed");
});

scenario("A37 TERM to a superseded owner changes nothing", async (home) => {
  await using session = await supervised(home, ...GATED);
  await makeGate(home);
  const hook = await session.autoarm();
  await untilArmed(home);
  home.write(LEDGER, `${NEWER}\n`);
  hook.signal("SIGTERM");
  assertEquals((await hook.ended()).status, 0);
  assertEquals(textOf(home.path(LEDGER)), `${NEWER}\n`);
  assertFalse(exists(home.path(NOTICE)));
});

scenario("A38 after KILL the next firing claims the next generation", async (home) => {
  await using session = await supervised(home, ...GATED, STALE_WAKE);
  await makeGate(home);
  const hook = await session.autoarm();
  await untilArmed(home);
  hook.signal("SIGKILL", "group");
  assertEquals((await hook.ended()).status, 137);
  assertEquals(ledgerOf(home)["outcome"], "arming");
  home.remove("armed");
  const next = await session.autoarm();
  await untilArmed(home);
  await openGate(home);
  assertWoke(home, await next.ended());
  assertEquals(ledgerOf(home)["epoch"], "2");
});

/** Callers that the hook is not for, and some that look alike. */
const CALLERS: readonly (readonly [string, HookOptions, "wakes" | "silent"])[] = [
  ["A39 Cursor", { stdin: '{"cursor_version":"1"}' }, "silent"],
  ["A39 no Cursor", { stdin: '{"cursor_version":1}' }, "wakes"],
  [
    "A40 Pi's hook compatibility",
    { stdin: '{"transcript_path":"/u/.pi/agent/sessions/x.jsonl"}' },
    "silent",
  ],
  ["A40 a path that is not Pi's", { stdin: '{"transcript_path":"/u/x.pi/y"}' }, "wakes"],
  ["A41 an empty input", { stdin: "" }, "wakes"],
  ["A41 half an object", { stdin: "{" }, "wakes"],
  ["A41 an array", { stdin: "[]" }, "wakes"],
  ["A41 a transcript path that is a number", { stdin: '{"transcript_path":7}' }, "wakes"],
  ["A42 Grok by its event", { env: { GROK_HOOK_EVENT: "stop" } }, "silent"],
  ["A42 Grok by its agent", { env: { GROK_AGENT: "1" } }, "silent"],
  ["A42 a Grok session id alone", { env: { GROK_SESSION_ID: "x" } }, "wakes"],
];

for (const [name, options, expected] of CALLERS) {
  scenario(`${name}: ${expected}`, async (home) => {
    await using session = await supervised(home);
    const result = await session.fire(options);
    assertEquals(armRuns(home), expected === "wakes" ? 1 : 0);
    if (expected === "wakes") assertWoke(home, result);
    else assertSilent(result);
  });
}

scenario("A43 A44 the arm sees the grace and the relay's settings", async (home) => {
  const arm = ['echo "$FM_GUARD_GRACE/$FM_CHECK_INTERVAL/$OTHER" >>seen.log', STALE_WAKE];
  await using session = await supervised(home, ...arm);
  await session.fire();
  await session.fire({ env: { FM_POLL: "600" } });
  await session.fire({ env: { FM_POLL: "600", FM_GUARD_GRACE: "77" } });
  home.write(
    "config/x-mode.env",
    'export FM_CHECK_INTERVAL=30\nOTHER=1\nFM_GUARD_GRACE=1\nFM_CHECK_INTERVAL="40"\n',
  );
  await session.fire();
  assertEquals(textOf(home.path("seen.log")), "300//\n660//\n77//\n300/40/\n");
});

const NEEDS: readonly (readonly [string, (home: TestHome) => unknown])[] = [
  ["the relay", (home) => home.relay()],
  ["a source", (home) => home.source()],
  ["a custom check", (home) => home.check()],
];

for (const [name, arrange] of NEEDS) {
  scenario(`A45 ${name} alone is a need`, async (home) => {
    await using session = await supervised(home);
    home.remove("state/task1.meta");
    arrange(home);
    assertWoke(home, await session.fire());
  });
}

Deno.test({
  name: "autoarm: A46 a state directory that cannot be written to ends in silence",
  // The superuser writes anywhere, and nobody else can become another user.
  ignore: isSuperuser() && asOtherUser([]) === undefined,
  fn: async () => {
    await using home = makeHome();
    home.task().write("state/.watcher-down", "pending:downtime:g1\n");
    writeArm(home, STALE_WAKE);
    await using session = await openSession(home, {
      through: (command) => asOtherUser(command) ?? command,
    });
    session.hold();
    Deno.chmodSync(home.state, 0o555);
    try {
      const before = snapshot(home.root);
      assertSilent(await session.fire());
      assertEquals(snapshot(home.root), before);
    } finally {
      Deno.chmodSync(home.state, 0o755);
    }
  },
});

scenario("A47 200,000 lines keep the hook small and lose no wake", async (home) => {
  const peak = "grep VmHWM \"/proc/$PPID/status\" | tr -dc '0-9 ' >>peak.log";
  await using session = await supervised(
    home,
    peak,
    `yes "$(printf '%01000d' 0)" | head -n 200000`,
    'i=0; while [ $i -lt 20 ]; do echo "signal: $i"; i=$((i + 1)); done',
    peak,
  );
  const result = await session.fire();
  assertDelivers(result, "signal: 0\n", "signal: 7\n");
  assertEquals(result.stderr.match(/^signal:/gm)?.length, 8);
  const [before = 0, after = Infinity] = textOf(home.path("peak.log")).trim().split(/\s+/).map(
    Number,
  );
  // Two hundred megabytes have gone through.
  assert(after - before < 100_000, `grew from ${before} kB to ${after} kB`);
});

scenario("A47 the last line of very many is not lost", async (home) => {
  await using session = await supervised(home, "seq 200000", says("signal: a"));
  assertDelivers(await session.fire(), "signal: a\n");
});

scenario(
  "A49 an episode from its first failure to its end, with a guard beside it",
  async (home) => {
    await using session = await supervised(home, ...FAILED_ARM);
    const guard = async () =>
      await session.stop({ env: { FM_CLAUDE_AUTOARM_SYNC_WAIT_MS: "100" } });
    assertFirstFailure(home, await session.fire());
    assertSilent(await guard());
    for (let round = 1; round <= 3; round++) {
      assertLaterFailure(home, await session.fire());
      assertEquals((await guard()).status, 2, `round ${round}`);
    }
    assertLaterFailure(home, await session.fire());
    const alarm = await guard();
    assertEquals([alarm.status, alarm.stderr], [0, ""]);
    assertStringIncludes(alarm.stdout, "FIRSTMATE SUPERVISION IS GENUINELY DOWN");
    assertSilent(await session.fire());
    assertEquals((await guard()).status, 2);

    const watcher = await home.watcher();
    assertSilent(await session.fire());
    assert(noEpisode(home));
    await watcher.end();
    assertFirstFailure(home, await session.fire());
  },
);

scenario("A50 the mid-turn reader believes a wake until the watcher beats again", async (home) => {
  home.beat(400);
  await using session = await supervised(home);
  assertWoke(home, await session.fire());
  assert(midTurn(home));
  const later = Math.floor(Date.now() / 1000) + 60;
  home.beatAt(later);
  assertFalse(midTurn(home));
});

/** The reader of another tool, worked out from its description. */
function midTurn(home: TestHome): boolean {
  const ledger = ledgerOf(home);
  const [, , generation] = textOf(home.path("state/.watcher-down")).trim().split(":");
  const modified = (name: string) => Deno.statSync(home.path(name)).mtime?.getTime() ?? 0;
  return !exists(home.path(NOTICE)) && !exists(home.path(ALARM)) &&
    ledger["outcome"] === "rewake" && ledger["session_pid"] === lockText(home).trim() &&
    isRunning(Number(ledger["session_pid"])) && ledger["recovery_generation"] === generation &&
    modified(LEDGER) >= modified("state/.last-watcher-beat");
}

/** Budgets that are not what the guard writes, and an episode's end all the same. */
const BUDGETS: readonly (readonly [string, (home: TestHome) => unknown])[] = [
  ["empty", (home) => home.write(BUDGET, "")],
  ["of one line", (home) => home.write(BUDGET, "session=S1\n")],
  ["with carriage returns", (home) => home.write(BUDGET, "session=S1\r\ncount=x\r\n")],
  ["a link", (home) => Deno.symlinkSync(home.path("AGENTS.md"), home.path(BUDGET))],
];

for (const [name, arrange] of BUDGETS) {
  scenario(`14 a budget that is ${name} goes with the episode`, async (home) => {
    await using session = await supervised(home, ...FAILED_ARM);
    await home.watcher();
    arrange(home);
    writeEpisode(home, NOTICE);
    assertSilent(await session.fire());
    assert(noEpisode(home));
    assert(exists(home.path("AGENTS.md")));
  });
}

for (const name of [BUDGET, NOTICE]) {
  scenario(`14 a directory at ${name} holds the turn open`, async (home) => {
    await using session = await supervised(home, ...FAILED_ARM);
    await home.watcher();
    removeEpisode(home);
    Deno.mkdirSync(home.path(name));
    assertDelivers(await session.fire(), "HELD THIS TURN OPEN");
    assert(exists(home.path(name)));
  });
}

scenario("14 a directory in the place of the alarm counts as one", async (home) => {
  await using session = await supervised(home, ...FAILED_ARM);
  Deno.mkdirSync(home.path(ALARM));
  assertSilent(await session.fire());
  assertEquals(ledgerOf(home)["outcome"], "failed-suppressed");
});

scenario("a trusted conversation is recorded with its claim", async (home) => {
  await using session = await supervised(home, ...GATED, STALE_WAKE);
  await makeGate(home);
  home.write("state/.lock-session", "conversation-1\n");
  const hook = await session.autoarm({
    env: { CLAUDE_CODE_SESSION_ID: "conversation-1", CLAUDE_PID: String(session.pid) },
  });
  await untilArmed(home);
  assertEquals(ledgerOf(home)["owner_session_id"], "conversation-1");
  const [, own, holder] = textOf(home.path(LEDGER)).split("\n");
  assertEquals([own, holder], [await identityOf(hook.pid), await identityOf(session.pid)]);
  await openGate(home);
  assertWoke(home, await hook.ended());
  assertEquals(ledgerOf(home)["owner_session_id"], undefined);
});

scenario("a conversation id with blanks stays out of the ledger", async (home) => {
  await using session = await supervised(home, `cp ${LEDGER} copy`, STALE_WAKE);
  const env = { CLAUDE_CODE_SESSION_ID: "a b", CLAUDE_PID: String(session.pid) };
  assertWoke(home, await session.fire({ stdin: STOP_PAYLOAD, env }));
  assertFalse(textOf(home.path("copy")).includes("owner_session_id"));
  assertEquals(textOf(home.path("copy")).split("\n").length, 3);
});
