/**
 * The auto-arm under signals, kills and crowds: whenever one comes, what is on disk stays usable.
 *
 * A sample by default; `TURNGUARD_FULL=1` runs the whole number.
 *
 * @module
 */

import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import {
  type ClaudeSession,
  type Hook,
  isRunning,
  ledgerOf,
  openSession,
  says,
  writeArm,
} from "../support/claude_session.ts";
import { exists, textOf } from "../support/files.ts";
import { makeHome, type TestHome } from "../support/home.ts";
import { until } from "../support/processes.ts";
import { inBatches } from "../support/turnguard.ts";

const FULL = Deno.env.get("TURNGUARD_FULL") === "1";

const LEDGER = "state/.claude-autoarm-epoch";
const NOTICE = "state/.claude-autoarm-failure-notified";

/** Homes that are worked on side by side. */
const WIDTH = 4;

/** Runs of each combination of signal and addressee. */
const SIGNAL_RUNS = FULL ? 200 : 12;

/** Firings that are killed. */
const KILLS = FULL ? 100 : 16;

/** Firings that are started at once. */
const CROWD = 64;

const SIGNALS = ["TERM", "INT", "HUP"] as const;

/** An arm that stands still until it is told to end. */
const STANDING = ["echo $$ >arm.pid", ": >armed", "read -r _ <gate"];

async function makeGate(home: TestHome): Promise<void> {
  const { success } = await new Deno.Command("mkfifo", { args: [home.path("gate")] }).output();
  assert(success);
}

/** Runs `work` so many times, spread over a few homes with a session each. */
async function inHomes(
  runs: number,
  work: (home: TestHome, session: ClaudeSession, run: number) => Promise<void>,
): Promise<void> {
  const each = Math.ceil(runs / WIDTH);
  await inBatches(Array.from({ length: WIDTH }), async () => {
    await using home = makeHome();
    home.task();
    await makeGate(home);
    await using session = (await openSession(home)).hold();
    for (let run = 0; run < each; run++) await work(home, session, run);
  }, WIDTH);
}

function clear(home: TestHome, ...names: readonly string[]): void {
  for (const name of names) if (exists(home.path(name))) home.remove(name);
}

/** The home brings an arm in every other run; in the others the hook is the watcher. */
function chooseArm(home: TestHome, run: number, ...body: readonly string[]): "script" | "own" {
  if (run % 2 === 0) {
    writeArm(home, ...body);
    return "script";
  }
  clear(home, "bin/fm-watch-arm.sh");
  return "own";
}

function isClaimedBy(home: TestHome, hook: Hook): boolean {
  return ledgerOf(home)["owner_pid"] === String(hook.pid);
}

function watches(home: TestHome, hook: Hook): boolean {
  return textOf(home.path("state/.watch.lock/pid")) === `${hook.pid}\n`;
}

/** Locks of live processes, and of dead ones too unless those are allowed. */
function locksOf(home: TestHome): readonly string[] {
  return [...Deno.readDirSync(home.state)].map((entry) => entry.name)
    .filter((name) => name.endsWith(".lock") && name !== ".lock");
}

for (const signal of SIGNALS) {
  for (const to of ["process", "group"] as const) {
    Deno.test(`autoarm: ${signal} to the ${to} after the claim is always committed`, async () => {
      await inHomes(SIGNAL_RUNS, async (home, session, run) => {
        clear(home, NOTICE, "armed", "arm.pid");
        const arm = chooseArm(home, run, ...STANDING);
        const hook = await session.autoarm();
        await until(() => isClaimedBy(home, hook));
        // One run in three waits for the arm; the others take the hook on its way there.
        if (run % 3 === 0) {
          await until(() => arm === "script" ? exists(home.path("armed")) : watches(home, hook));
        } else {
          await moment(Math.random() * 20);
        }
        hook.signal(`SIG${signal}`, to);
        const { status, stdout, stderr } = await hook.ended();
        assertEquals([status, stdout], [2, ""], `run ${run}: ${stderr}`);
        assertStringIncludes(stderr, `INTERRUPTED by ${signal} - `);
        const { epoch, outcome } = ledgerOf(home);
        assertEquals([epoch, outcome], [String(run + 1), "failed"]);
        assert(exists(home.path(NOTICE)));
        assertEquals(locksOf(home), []);
        const child = Number(textOf(home.path("arm.pid")));
        assertFalse(child > 0 && isRunning(child), "the arm is left behind");
      });
    });
  }
}

/** A moment of the system's choosing: what is tested must hold at any. */
async function moment(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

Deno.test("autoarm: a signal before the claim leaves nothing", async () => {
  await inHomes(FULL ? 60 : 12, async (home, session, run) => {
    clear(home, LEDGER, NOTICE);
    chooseArm(home, run, ...STANDING);
    const hook = await session.autoarm();
    await moment(Math.random() * 60);
    hook.signal(`SIG${SIGNALS[run % 3] ?? "TERM"}`, "group");
    const { status, stdout } = await hook.ended();
    assertEquals(stdout, "");
    const { outcome } = ledgerOf(home);
    if (status === 2) assertEquals([outcome, exists(home.path(NOTICE))], ["failed", true]);
    else assertEquals([outcome, exists(home.path(NOTICE))], [undefined, false], `status ${status}`);
    assertEquals(locksOf(home), []);
  });
});

/** Locks of a killed watcher, which the next watcher takes; a script's arm has no use for them. */
const OF_A_WATCHER = [".watch.lock", ".wake-queue.lock", ".watch-deliveries.log.lock"];

Deno.test("autoarm: a firing that is killed at any moment is followed by one that works", async () => {
  await inHomes(KILLS, async (home, session, run) => {
    home.write("state/.watcher-down", "pending:downtime:g1\n");
    writeArm(home, says("stale: w x"));
    const startedAt = performance.now();
    const whole = await session.fire();
    const wholeMs = performance.now() - startedAt;
    assertEquals(whole.status, 2, `run ${run}: ${whole.stderr}`);

    if (run % 2 === 1) clear(home, "bin/fm-watch-arm.sh");
    const before = Number(ledgerOf(home)["epoch"]);
    const hook = await session.autoarm();
    // Past its end too: then there is nothing left to kill.
    await moment(Math.random() * wholeMs * 1.2);
    hook.kill();
    await hook.ended();
    const after = ledgerOf(home);
    assert(["arming", "rewake"].includes(after["outcome"] ?? ""), JSON.stringify(after));
    assert([before, before + 1].includes(Number(after["epoch"])), JSON.stringify(after));
    assertMatch(textOf(home.path(LEDGER)), /^[^\n]+\n[^\n]+\n$/);

    writeArm(home, says("stale: w x"));
    const next = await session.fire();
    assertEquals(next.status, 2, `run ${run}: ${next.stderr}`);
    assertEquals(Number(ledgerOf(home)["epoch"]), Number(after["epoch"]) + 1);
    assertEquals(locksOf(home).filter((name) => !OF_A_WATCHER.includes(name)), []);
  });
});

Deno.test("autoarm: a park that is killed is followed by one that tells of the gap", async () => {
  await inHomes(FULL ? 20 : 4, async (home, session) => {
    const killed = await session.autoarm();
    await until(() => watches(home, killed));
    killed.kill();
    await killed.ended();
    clear(home, "state/.watcher-down");
    const next = await session.fire();
    assertEquals(next.status, 2, next.stderr);
    assertStringIncludes(next.stderr, "\ncheck: rearm-resurface\n");
    assertMatch(textOf(home.path("state/.watcher-down")), /^announced:downtime:[A-Za-z0-9._-]+\n$/);
    assertEquals(locksOf(home), []);
    clear(home, "state/.watcher-down");
    clear(home, NOTICE);
  });
});

Deno.test(`autoarm: of ${CROWD} firings at once exactly one claims and parks`, async () => {
  await using home = makeHome();
  home.task();
  await using session = (await openSession(home)).hold();
  const hooks: Hook[] = [];
  for (let started = 0; started < CROWD; started++) hooks.push(await session.autoarm());
  await until(() => ledgerOf(home)["outcome"] === "arming", 60_000);
  const owner = hooks.find((hook) => isClaimedBy(home, hook));
  assert(owner !== undefined);
  for (const hook of hooks) {
    if (hook === owner) continue;
    assertEquals(await hook.ended(), { status: 0, stdout: "", stderr: "" });
  }
  await until(() => watches(home, owner));
  assertEquals(ledgerOf(home)["owner_pid"], String(owner.pid));
  assertEquals(ledgerOf(home)["epoch"], "1");
  home.write("state/task1.status", "done\n");
  assertEquals((await owner.ended()).status, 2);
  const { epoch, outcome } = ledgerOf(home);
  assertEquals([epoch, outcome], ["1", "rewake"]);
  assertEquals(locksOf(home), []);
});
