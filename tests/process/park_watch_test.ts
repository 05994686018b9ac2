/**
 * The park of a home that brings no arm: the hook itself is the watcher, until there is something to tell
 * or until another park takes its place.
 *
 * @module
 */

import { assert, assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import { untilItLooked } from "../support/arm_home.ts";
import { isRunning, openSession } from "../support/claude_session.ts";
import {
  type CursorHome,
  messageOf,
  payload,
  REPAIRS,
  saidBy,
  type Scenario,
  scenarios,
} from "../support/cursor_home.ts";
import { exists, textOf } from "../support/files.ts";
import { handleWakes } from "../support/handle_wakes.ts";
import { identityOf, until } from "../support/processes.ts";
import { runTurnguard, verdictOf } from "../support/turnguard.ts";
import { beatMs, marker, startWatch } from "../support/watching.ts";

const WAKE = "watcher: firstmate watcher wake - one supervision event needs a handling turn now.";
const REARM =
  "watcher: firstmate watcher wake - the stop hook reached its time limit and needs one " +
  "turn to park again.";
const SHORT_LIFE = { TURNGUARD_PARK_MAX_SECONDS: "2" };

/** Reads of files by which a hook has certainly looked at its watcher more than once. */
const LOOKS = 100;

async function guardVerdict(home: CursorHome): Promise<string> {
  const options = { env: home.home.env, stdin: payload() };
  return verdictOf(await runTurnguard(["stop", "--cursor", ...home.home.args], options));
}

scenarios("park: the hook as the watcher", [
  ["is believed by the guard, and wakes with a report", async (home) => {
    const hook = await home.parked();
    assertEquals(
      ["fm-home", "watcher-path", "pid-identity"].map((name) =>
        textOf(home.path("state/.watch.lock", name))
      ),
      [`${home.home.root}\n`, `${home.home.watcherPath}\n`, `${await identityOf(hook.pid)}\n`],
    );
    assertEquals(await guardVerdict(home), "allow");
    home.home.write("state/task1.status", "done\n").write(REPAIRS, "session=conv-1\ncount=2\n");
    const message = messageOf(await hook.ended());
    assertStringIncludes(message, `\nsignal: ${home.path("state/task1.status")}\n\n`);
    assertFalse(exists(home.path(REPAIRS)));
    assertEquals(home.litter(), []);
    assertEquals(await guardVerdict(home), "block");
  }],
  ["a wake that was handled comes once, and the next stop parks", async (home) => {
    home.home.write("state/task1.status", "done\n");
    assertEquals(saidBy(await home.run()), WAKE);
    assert((await handleWakes(home.home)).includes("task1.status"));
    const hook = await home.parked();
    const seen = beatMs(home.home);
    await until(() => beatMs(home.home) > seen);
    assert(isRunning(hook.pid));
  }],
  ["a wake that nobody handled is announced again", async (home) => {
    home.home.write("state/task1.status", "done\n");
    assertStringIncludes(messageOf(await home.run()), "\nsignal: ");
    assertStringIncludes(messageOf(await home.run()), "\ncheck: rearm-resurface\n");
  }],
  ...(["SIGTERM", "SIGINT", "SIGHUP"] as const).map((signal): Scenario => [
    `${signal} ends it in silence`,
    async (home) => {
      const hook = await home.parked();
      hook.signal(signal, "group");
      assertEquals(saidBy(await hook.ended()), "silent");
      assertEquals([home.litter(), marker(home.home)], [[], "pending:downtime"]);
    },
  ]),
  ["leaves for away mode, which waits for nobody", async (home) => {
    const hook = await home.parked();
    home.home.write("state/.afk.new", "away\n");
    Deno.renameSync(home.path("state/.afk.new"), home.path("state/.afk"));
    assertEquals(saidBy(await hook.ended()), "silent");
    assertEquals([home.journal().at(-1), home.litter()], ["silent away", []]);
  }],
  ["tells the wake of the watcher that it follows", async (home) => {
    const watcher = await startWatch(home.home);
    await using _watcher = watcher;
    const hook = await home.start();
    await until(() => home.sequence() === 1);
    await untilItLooked(hook.pid, LOOKS);
    home.home.write("state/task1.status", "done\n");
    assertEquals((await watcher.ended()).status, 0);
    assertStringIncludes(
      messageOf(await hook.ended()),
      `\nsignal: ${home.path("state/task1.status")}\n`,
    );
  }],
  ["a settings file that a watcher cannot run by leads to a repair", async (home) => {
    const env = { FM_PROCEVENT_LAUNCH_CONFIRM_SECONDS: "x" };
    const message = messageOf(await home.run({ env }));
    assertStringIncludes(message, "turn-end-guard: TURN WOULD END BLIND - after 2 arm attempts");
  }],
]);

/** What came up while the hook was parked, and the word in the journal at its time limit. */
const LIMITS: readonly (readonly [string, string, (home: CursorHome) => unknown])[] = [
  ["no need", "no-need", (home) => home.home.remove("state/task1.meta")],
  ["away mode", "away", (home) => home.home.away()],
];

scenarios("park: before its host ends it", [
  ["it asks for one turn, and parks again at its end", async (home) => {
    home.home.write(REPAIRS, "session=conv-1\ncount=2\n");
    const result = await home.run({ env: SHORT_LIFE });
    assertEquals(saidBy(result), REARM);
    for (const text of ["bin/fm-wake-drain.sh", "WAKE_ACK_REQUIRED", "--ack-through"]) {
      assertStringIncludes(messageOf(result), text);
    }
    assertEquals([exists(home.path(REPAIRS)), home.litter()], [false, []]);
    await handleWakes(home.home);
    await home.parked();
  }],
  ...LIMITS.map(([name, code, arrange]): Scenario => [`it is silent with ${name}`, async (home) => {
    const env = { ...SHORT_LIFE, FM_CURSOR_PARK_POLL: "600" };
    const hook = await home.parked({ env });
    arrange(home);
    assertEquals(saidBy(await hook.ended()), "silent");
    assertEquals([home.journal().at(-1), home.litter()], [`silent ${code}`, []]);
  }]),
]);

scenarios("park: one after the other", [
  ["the newer one watches on, and nobody is told of a gap", async (home) => {
    let hook = await home.parked();
    for (let turn = 2; turn <= 4; turn++) {
      const next = await home.start();
      assertEquals(saidBy(await hook.ended()), "silent");
      await home.untilWatching(next);
      assertEquals(home.sequence(), turn);
      hook = next;
    }
    const seen = beatMs(home.home);
    await until(() => beatMs(home.home) > seen);
    home.home.write("state/task1.status", "done\n");
    const message = messageOf(await hook.ended());
    assertStringIncludes(message, "\nsignal: ");
    assertFalse(message.includes("rearm-resurface"));
    assertEquals(home.litter(), []);
  }],
  ["a report that comes between the two is told once, by the newer one", async (home) => {
    const first = await home.parked();
    const next = await home.start();
    assertEquals(saidBy(await first.ended()), "silent");
    home.home.write("state/task1.status", "done\n");
    assertStringIncludes(messageOf(await next.ended()), "\nsignal: ");
    assert((await handleWakes(home.home)).includes("task1.status"));
    assertEquals(await handleWakes(home.home), "");
  }],
  ["a wake that the earlier one no longer may tell is told by the newer one", async (home) => {
    const first = await home.parked({ env: { FM_CURSOR_PARK_POLL: "600" } });
    const next = await home.start();
    await until(() => home.sequence() === 2);
    home.home.write("state/task1.status", "done\n");
    assertEquals(saidBy(await first.ended()), "silent");
    assertEquals(home.journal().filter((line) => line.startsWith("silent")), ["silent superseded"]);
    assertEquals(saidBy(await next.ended()), WAKE);
    assert((await handleWakes(home.home)).includes("task1.status"));
  }],
  ["a gap before the earlier one is told all the same", async (home) => {
    const first = await home.parked();
    first.signal("SIGKILL");
    await first.ended();
    assertStringIncludes(messageOf(await home.run()), "\ncheck: rearm-resurface\n");
  }],
  ["the session is gone: the park ends, and the next session's takes its place", async (home) => {
    const hook = await home.parked();
    await home.session.crash();
    const session = await openSession(home.home, { name: "cursor-agent" });
    await using _session = session;
    session.hold();
    await until(() => !isRunning(hook.pid));
    assertEquals(home.litter(), []);
  }],
]);
