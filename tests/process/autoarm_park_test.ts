/**
 * The auto-arm of a home that brings no arm: the hook itself is the watcher, until there is something to
 * tell.
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
} from "../support/claude_session.ts";
import { untilItLooked } from "../support/arm_home.ts";
import { exists, textOf } from "../support/files.ts";
import { makeHome, type TestHome } from "../support/home.ts";
import { identityOf, until } from "../support/processes.ts";
import { handleWakes } from "../support/handle_wakes.ts";
import { runTurnguard, verdictOf } from "../support/turnguard.ts";
import { startWatch } from "../support/watching.ts";

const MARKER = "state/.watcher-down";
const NOTICE = "state/.claude-autoarm-failure-notified";
const ALARM = "state/.claude-autoarm-failure-alarmed";

function scenario(name: string, work: (home: TestHome) => Promise<void>): void {
  Deno.test(`autoarm: ${name}`, async () => {
    await using home = makeHome();
    home.task();
    await work(home);
  });
}

/** Waits until the hook holds the watch lock and has given a beat. */
async function untilParked(home: TestHome, hook: Hook): Promise<void> {
  await until(() =>
    textOf(home.path("state/.watch.lock/pid")) === `${hook.pid}\n` &&
    exists(home.path("state/.last-watcher-beat")) &&
    textOf(home.path("state/.watch.lock/pid-identity")) !== ""
  );
}

async function park(
  home: TestHome,
  session: ClaudeSession,
  env: Readonly<Record<string, string>> = {},
): Promise<Hook> {
  const hook = await session.autoarm({ env });
  await untilParked(home, hook);
  return hook;
}

/** Names of what a watcher must not leave behind. */
function litterOf(home: TestHome): readonly string[] {
  return [...Deno.readDirSync(home.state)].map((entry) => entry.name)
    .filter((name) => name.includes(".lock.") || name.includes(".tmp.") || name.endsWith(".lock"))
    .filter((name) => name !== ".lock").sort();
}

function generationOf(home: TestHome): string {
  return /^pending:downtime:([A-Za-z0-9._-]+)\n$/.exec(textOf(home.path(MARKER)))?.[1] ?? "";
}

async function guardVerdict(home: TestHome): Promise<string> {
  const stdin = '{"stop_hook_active":false,"session_id":"S1"}';
  return verdictOf(await runTurnguard(["stop", ...home.args], { env: home.env, stdin }));
}

scenario("parks as a watcher that the guard believes, and wakes with a report", async (home) => {
  await using session = (await openSession(home)).hold();
  const hook = await park(home, session);
  assertEquals(ledgerOf(home)["outcome"], "arming");
  assertEquals(
    ["fm-home", "watcher-path", "pid-identity"].map((name) =>
      textOf(home.path("state/.watch.lock", name))
    ),
    [`${home.root}\n`, `${home.watcherPath}\n`, `${await identityOf(hook.pid)}\n`],
  );
  assertEquals(await guardVerdict(home), "allow");

  home.write("state/task1.status", "done\n");
  const result = await hook.ended();
  assertEquals([result.status, result.stdout], [2, ""], result.stderr);
  assertStringIncludes(result.stderr, `\nsignal: ${home.path("state/task1.status")}\n`);
  const { outcome, session_pid, recovery_generation } = ledgerOf(home);
  assertEquals(
    { outcome, session_pid, recovery_generation },
    {
      outcome: "rewake",
      session_pid: String(session.pid),
      recovery_generation: generationOf(home),
    },
  );
  assertFalse(generationOf(home) === "");
  assertMatch(
    textOf(home.path("state/.wake-queue")),
    /^[0-9]+\t1\tsignal\ttask1\.status\tsignal: [^\t\n]*task1\.status\n$/,
  );
  assertEquals(litterOf(home), []);
  assertEquals(await guardVerdict(home), "block");
});

scenario("a report from before the park wakes at once, and only once", async (home) => {
  await using session = (await openSession(home)).hold();
  home.write("state/task1.status", "done\n");
  assertEquals((await session.fire()).status, 2);
  assertMatch(await handleWakes(home), /^[^\n]*\ttask1\.status\t[^\n]*\n$/);
  const hook = await park(home, session);
  assert(isRunning(hook.pid));
  home.write("state/task1.status", "done, and more\n");
  assertEquals((await hook.ended()).status, 2);
  assertMatch(await handleWakes(home), /^[^\n]*\ttask1\.status\t[^\n]*\n$/);
});

scenario("a wake that nobody handled is announced again by the next park", async (home) => {
  await using session = (await openSession(home)).hold();
  home.write("state/task1.status", "done\n");
  assertStringIncludes((await session.fire()).stderr, "\nsignal: ");
  const again = await session.fire();
  assertEquals(again.status, 2);
  assertStringIncludes(again.stderr, "\ncheck: rearm-resurface\n");
});

for (const signal of ["TERM", "INT", "HUP"] as const) {
  scenario(`${signal} ends a park without a trace in the way`, async (home) => {
    await using session = (await openSession(home)).hold();
    const hook = await park(home, session);
    hook.signal(`SIG${signal}`, "group");
    const result = await hook.ended();
    assertEquals([result.status, result.stdout], [2, ""]);
    assertStringIncludes(result.stderr, `INTERRUPTED by ${signal} - `);
    assertEquals(ledgerOf(home)["outcome"], "failed");
    assert(exists(home.path(NOTICE)));
    assertFalse(generationOf(home) === "");
    assertEquals(litterOf(home), []);
  });
}

const SHORT_LIFE = { TURNGUARD_AUTOARM_MAX_SECONDS: "2" };

scenario(
  "a park ends by itself before its host ends it, and asks to be armed again",
  async (home) => {
    await using session = (await openSession(home)).hold();
    const result = await session.fire({ env: SHORT_LIFE });
    assertEquals([result.status, result.stdout], [2, ""], result.stderr);
    assertStringIncludes(result.stderr, "firstmate watcher wake - the hook reached its time limit");
    assertStringIncludes(result.stderr, "bin/fm-wake-drain.sh");
    assertStringIncludes(result.stderr, "do NOT run bin/fm-watch-arm.sh");
    const { outcome, session_pid, recovery_generation } = ledgerOf(home);
    assertEquals([outcome, session_pid], ["rewake", String(session.pid)]);
    assertEquals(recovery_generation, generationOf(home));
    assertEquals(litterOf(home), []);
    assertFalse(exists(home.path("state/.wake-queue")));
  },
);

scenario("a park in a home made by init speaks of turnguard's commands", async (home) => {
  home.write("state/.turnguard-home");
  await using session = (await openSession(home)).hold();
  home.write("state/task1.status", "done\n");
  const { status, stderr } = await session.fire();
  assertEquals(status, 2);
  const root = `--root ${home.root}`;
  assertStringIncludes(stderr, `Handle it: run turnguard wake drain ${root}, and `);
  assertStringIncludes(stderr, `do NOT run turnguard arm ${root}.`);
});

/** What came up while the hook was parked, and how its time limit is then recorded. */
const LIMITS: readonly (readonly [string, (home: TestHome) => unknown, string])[] = [
  ["away mode", (home) => home.away(), "afk"],
  ["no need", (home) => home.remove("state/task1.meta"), "clean"],
  ["an alarm", (home) => home.write(ALARM).write(NOTICE), "failed-suppressed"],
];

for (const [name, arrange, outcome] of LIMITS) {
  scenario(`the time limit with ${name} is silent`, async (home) => {
    await using session = (await openSession(home)).hold();
    const hook = await park(home, session, SHORT_LIFE);
    arrange(home);
    assertEquals(await hook.ended(), { status: 0, stdout: "", stderr: "" });
    assertEquals(ledgerOf(home)["outcome"], outcome);
    assertEquals(litterOf(home), []);
  });
}

scenario("a superseded park leaves at its limit without a trace of its own", async (home) => {
  await using session = (await openSession(home)).hold();
  const hook = await park(home, session, SHORT_LIFE);
  const newer = "epoch=99 owner_pid=1 outcome=clean updated_at=1\n";
  home.write("state/.claude-autoarm-epoch", newer);
  assertEquals((await hook.ended()).status, 0);
  assertEquals(textOf(home.path("state/.claude-autoarm-epoch")), newer);
  assertFalse(exists(home.path(NOTICE)));
});

scenario("an arm that forwards to turnguard counts as none", async (home) => {
  await using session = (await openSession(home)).hold();
  home.write("bin/fm-watch-arm.sh", "#!/bin/sh\n: >ran\nexec turnguard arm\n");
  Deno.chmodSync(home.path("bin/fm-watch-arm.sh"), 0o755);
  const hook = await park(home, session);
  hook.signal("SIGTERM");
  assertEquals((await hook.ended()).status, 2);
  assertFalse(exists(home.path("ran")));
});

scenario("an arm that cannot be executed counts as none", async (home) => {
  await using session = (await openSession(home)).hold();
  home.write("bin/fm-watch-arm.sh", "#!/bin/sh\n");
  Deno.chmodSync(home.path("bin/fm-watch-arm.sh"), 0o644);
  const hook = await park(home, session);
  hook.signal("SIGTERM");
  assertEquals((await hook.ended()).status, 2);
});

/** A watcher that is gone gets a second for its successor. */
const SOON = { FM_ARM_CONFIRM_TIMEOUT: "0", FM_ARM_ATTACH_POLL: "0.05" };

/** Reads of files by which a hook has certainly looked at its watcher more than once. */
const LOOKS = 100;

scenario("tells the wake of the watcher that it follows", async (home) => {
  await using session = (await openSession(home)).hold();
  const watcher = await startWatch(home);
  await using _watcher = watcher;
  const hook = await session.autoarm({ env: SOON });
  await until(() => ledgerOf(home)["outcome"] === "arming");
  await untilItLooked(hook.pid, LOOKS);
  home.write("state/task1.status", "done\n");
  assertEquals((await watcher.ended()).status, 0);
  const result = await hook.ended();
  assertEquals(result.status, 2);
  assertStringIncludes(result.stderr, `\nsignal: ${home.path("state/task1.status")}\n`);
  assertEquals(ledgerOf(home)["outcome"], "rewake");
});

scenario("follows a watcher that is slow, and replaces one that is stuck", async (home) => {
  await using session = (await openSession(home)).hold();
  const watcher = await home.watcher(0);
  const hook = await session.autoarm({ env: { ...SOON, FM_WATCHER_STALL_BOUND: "900" } });
  await until(() => ledgerOf(home)["outcome"] === "arming");
  await untilItLooked(hook.pid, LOOKS);
  home.beat(400);
  await untilItLooked(hook.pid, LOOKS);
  assert(isRunning(hook.pid) && isRunning(watcher.pid));
  home.beat(1_000);
  const result = await hook.ended();
  assertEquals(result.status, 2);
  assertStringIncludes(result.stderr, "\ncheck: rearm-resurface\n");
  assertFalse(isRunning(watcher.pid));
});

scenario("follows a healthy watcher, and tells of the gap when it is gone", async (home) => {
  await using session = (await openSession(home)).hold();
  const watcher = await home.watcher(0);
  const hook = await session.autoarm({ env: SOON });
  await until(() => ledgerOf(home)["outcome"] === "arming");
  await watcher.end();
  const result = await hook.ended();
  assertEquals(result.status, 2);
  assertStringIncludes(result.stderr, "\ncheck: rearm-resurface\n");
  assertEquals(ledgerOf(home)["epoch"], "1");
  await handleWakes(home);
  const next = await park(home, session);
  assertEquals(await guardVerdict(home), "allow");
  home.write("state/task1.turn-ended");
  assertStringIncludes((await next.ended()).stderr, "\nsignal: ");
});

scenario(
  "a park whose session is gone ends by itself, and the next session arms",
  async (home) => {
    const first = (await openSession(home)).hold();
    const orphan = await park(home, first);
    await first.crash();
    try {
      await using session = await openSession(home);
      const hook = await session.autoarm({ env: SOON });
      await until(() => ledgerOf(home)["owner_pid"] === String(hook.pid));
      assertEquals(ledgerOf(home)["epoch"], "2");
      assertEquals(textOf(home.path("state/.lock")), `${session.pid}\n`);
      await until(() => !isRunning(orphan.pid));
      // The stretch between the two is told, and the next firing parks.
      assertStringIncludes((await hook.ended()).stderr, "\ncheck: rearm-resurface\n");
      await handleWakes(home);
      (await park(home, session)).signal("SIGTERM");
    } finally {
      orphan.kill();
      await first[Symbol.asyncDispose]();
    }
  },
);

scenario(
  "an absent session lock goes to the first session of a home made by init",
  async (home) => {
    home.write("state/.turnguard-home");
    await using session = await openSession(home);
    const hook = await park(home, session);
    assertEquals(textOf(home.path("state/.lock")), `${session.pid}\n`);
    hook.signal("SIGTERM");
    assertEquals((await hook.ended()).status, 2);
  },
);

scenario("a malformed session lock stays as it is, in a home made by init too", async (home) => {
  home.write("state/.turnguard-home").write("state/.lock", "nobody\n");
  await using session = await openSession(home);
  assertEquals((await session.fire()).status, 0);
  assertEquals(textOf(home.path("state/.lock")), "nobody\n");
  assertFalse(exists(home.path("state/.claude-autoarm-epoch")));
});
