/**
 * Watching in the foreground for a while.
 *
 * @module
 */

import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import { type ArmHome, type Scenario, scenarios } from "../support/arm_home.ts";
import { isRunning } from "../support/claude_session.ts";
import { textOf } from "../support/files.ts";
import { until } from "../support/processes.ts";

const OUTSIDE = "checkpoint: watcher is already running outside this foreground checkpoint\n";

/** The same scenario with turnguard's watcher in the checkpoint, and with a script as its child. */
function bothWays(name: string, play: (arms: ArmHome) => Promise<void>): readonly Scenario[] {
  return [
    [`${name}, in its own process`, play],
    [`${name}, as a child`, (arms) => play(arms.watcherScript())],
  ];
}

scenarios("checkpoint: tells a wake, or that there was none (C1, C2)", [
  ...bothWays("C1: a quiet home", async (arms) => {
    const run = await arms.run(["checkpoint", "--seconds", "1"]);
    assertEquals([run.status, run.stdout], [
      124,
      "checkpoint: no actionable wake within 1s\n",
    ]);
    assertEquals(arms.named(".watch.lock"), []);
  }),
  ...bothWays("C2: a live holder", async (arms) => {
    const { pid } = await arms.home.watcher(0);
    assertEquals(await arms.run(["checkpoint", "--seconds", "50"]), {
      status: 1,
      stdout: `watcher: already running pid ${pid}\n`,
      stderr: OUTSIDE,
    });
    assert(isRunning(pid));
  }),
  ...bothWays("a wake", async (arms) => {
    const reason = arms.report();
    const run = await arms.run(["checkpoint"], { FM_CODEX_WATCH_CHECKPOINT: "50" });
    assertEquals(run, { status: 0, stdout: `${reason}\n`, stderr: "" });
    assertEquals(arms.named(".watch.lock"), []);
  }),
  ...bothWays("a watcher that is refused", async (arms) => {
    const { pid } = await arms.home.watcher(400);
    const run = await arms.run(["checkpoint", "--seconds", "50"]);
    assertEquals([run.status, run.stdout], [1, ""]);
    assertStringIncludes(run.stderr, `lock held by live pid ${pid} but heartbeat is stale for `);
    assertFalse(run.stderr.includes(OUTSIDE));
  }),
  ...bothWays("a signal", async (arms) => {
    const checkpoint = arms.start(["checkpoint", "--seconds", "50"]);
    await until(() => arms.watcherPid() !== 0 && arms.isBeating(), 60_000);
    const pid = arms.watcherPid();
    assertEquals((await checkpoint.signal("SIGTERM").ended()).status, 143);
    assertFalse(isRunning(pid));
    assertEquals(arms.named(".watch.lock"), []);
    assertMatch(textOf(arms.path("state/.watcher-down")), /^pending:downtime:/);
  }),
  ["a watcher that ends otherwise", async (arms) => {
    arms.watcherScript("echo out; echo err >&2; exit 7");
    const run = await arms.run(["checkpoint", "--seconds", "50"]);
    assertEquals(run, { status: 7, stdout: "out\n", stderr: "err\n" });
  }],
  ["a length that is none", async (arms) => {
    for (const words of [["--seconds", "0"], ["--seconds", "1.5"], ["--seconds", "x"], ["x"]]) {
      const { status, stdout } = await arms.run(["checkpoint", ...words]);
      assertEquals([status, stdout], [2, ""], words.join(" "));
    }
    assertEquals(arms.named("."), []);
  }],
]);
