/**
 * Arms with a watcher of their own: in their own process, or the home's own script as their child.
 *
 * @module
 */

import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import {
  type ArmHome,
  NO_REASON,
  type Running,
  type Scenario,
  scenarios,
} from "../support/arm_home.ts";
import { isRunning } from "../support/claude_session.ts";
import { exists, textOf } from "../support/files.ts";
import { deadPid } from "../support/processes.ts";

const RESURFACE = "check: rearm-resurface";
const NO_WATCHER = "watcher: FAILED - no live watcher with a fresh beacon";

/** The same scenario with turnguard's watcher in the arm, and with a script as its child. */
function bothWays(
  name: string,
  play: (arms: ArmHome, way: "own" | "child") => Promise<void>,
): readonly Scenario[] {
  return [
    [`${name}, in its own process`, (arms) => play(arms, "own")],
    [`${name}, as a child`, (arms) => play(arms.watcherScript(), "child")],
  ];
}

/** Waits until the watcher of a started arm is the one that the way asks for. */
function assertWay(arms: ArmHome, arm: Running, way: "own" | "child"): number {
  const pid = arms.watcherPid();
  assertEquals(pid === arm.pid, way === "own");
  assertStringIncludes(arm.stdout, `watcher: started pid=${pid} (beacon fresh)\n`);
  return pid;
}

scenarios("arm: starts a watcher and tells what it tells (A1, A10, A14, A15, A21)", [
  ...bothWays("A1: a started watcher and its reason", async (arms, way) => {
    const arm = await arms.startedArm();
    const pid = assertWay(arms, arm, way);
    assertEquals(arms.named(".watch-arm-output.").length, way === "own" ? 0 : 1);
    const reason = arms.report();
    assertEquals(await arm.ended(), {
      status: 0,
      stdout: `watcher: started pid=${pid} (beacon fresh)\n${reason}\n`,
      stderr: "",
    });
    const [row] = arms.rows();
    assertEquals([row?.["arm_pid"], row?.["watcher_pid"]], [`${arm.pid}`, `${pid}`]);
    assertEquals([row?.["origin"], row?.["reason"]], ["started", "actionable-signal"]);
    assertEquals([row?.["exit_code"], row?.["signal"]], ["0", "none"]);
    assertEquals([row?.["lock_before"], row?.["lock_after"]], [
      "pid:none|identity:none",
      "pid:none|identity:none",
    ]);
    assertEquals([...arms.named(".watch-arm-output."), ...arms.named(".watch.lock")], []);
  }),
  ...(["SIGHUP", "SIGTERM", "SIGINT"] as const).flatMap((signal) =>
    bothWays(`A10: ${signal}`, async (arms, way) => {
      const arm = await arms.startedArm();
      const pid = assertWay(arms, arm, way);
      const { status } = await arm.signal(signal).ended();
      assertEquals(status, { SIGHUP: 129, SIGTERM: 143, SIGINT: 130 }[signal]);
      assertFalse(isRunning(pid));
      assertEquals([...arms.named(".watch-arm-output."), ...arms.named(".watch.lock")], []);
      assertMatch(textOf(arms.path("state/.watcher-down")), /^pending:downtime:/);
      assertEquals(arms.column("reason"), ["arm-interrupted"]);
      assertEquals(arms.column("signal"), [signal.slice(3)]);
    })
  ),
  ...bothWays("A14: no beat is ever fresh, and a check prints at once", async (arms) => {
    const path = await arms.check("c", "echo hello");
    const { status, stdout } = await arms.run(["arm"], {
      FM_GUARD_GRACE: "0",
      FM_ARM_CONFIRM_TIMEOUT: "30",
    });
    assertEquals([status, stdout], [0, `check: ${path}: hello\n`]);
    assertEquals(arms.column("reason"), ["actionable-check"]);
  }),
  ...bothWays("A15: the arm after that is its successor", async (arms) => {
    const first = await arms.startedArm();
    arms.report();
    await first.ended();
    arms.home.write("state/.watcher-down", "pending:handling:g1\n");
    const next = arms.arm({
      FM_ARM_CONFIRM_TIMEOUT: "30",
      FM_WATCH_PREDECESSOR_ARM_PID: `${first.pid}`,
    });
    const line = await next.line(/^watcher: started /);
    const pid = arms.watcherPid();
    assertEquals(line, `watcher: started pid=${pid} (beacon fresh) recovery-generation=g1`);
    assertEquals(arms.column("successor"), [`started:${pid}`]);
    assertEquals(arms.column("arm_pid"), [`${first.pid}`]);
    assertEquals([...Deno.readDirSync(arms.path("state/.watch-cycle-links"))], []);
    const reason = arms.report("other");
    const { status, stdout } = await next.ended();
    assertEquals([status, stdout.split("\n")[1]], [0, reason]);
  }),
  ...bothWays("A21: a check that printed two lines", async (arms) => {
    const path = await arms.check("c", "echo one; echo two");
    const { status, stdout } = await arms.run(["arm"], { FM_ARM_CONFIRM_TIMEOUT: "30" });
    assertEquals(status, 0);
    assertStringIncludes(stdout, `check: ${path}: one\ntwo\n`);
    assertEquals(arms.queue(), [["check", path, `check: ${path}: one two`]]);
  }),
]);

scenarios("arm: says how its watcher failed (A8, A9, A18, A19, A20)", [
  ...bothWays("A8: an unrelated process in the lock", async (arms) => {
    const stranger = await arms.home.watcher(400, { identity: null });
    const { status, stdout } = await arms.run(["arm"], { FM_ARM_CONFIRM_TIMEOUT: "3" });
    assertEquals([status, stdout], [
      1,
      "watcher: FAILED - watcher cycle exited 1 without an actionable reason\n",
    ]);
    assertEquals(arms.column("reason"), ["nonzero-exit"]);
    assert(isRunning(stranger.pid));
    assertEquals(arms.watcherPid(), stranger.pid);
  }),
  ...bothWays("A9: the lock is taken by a process that is no watcher", async (arms) => {
    const arm = await arms.startedArm({ FM_ARM_CONFIRM_TIMEOUT: "3" });
    const stranger = arms.home.sleeper();
    arms.home.write("state/.watch.lock/pid", `${stranger.pid}\n`);
    const { status, stdout } = await arm.ended();
    assertEquals([status, stdout.split("\n")[1]], [1, NO_REASON]);
    assertEquals(arms.column("reason"), ["unexpected-clean-exit"]);
    assertEquals(arms.watcherPid(), stranger.pid);
  }),
  ...bothWays("A18: a setting that the watcher refuses", async (arms) => {
    const { status, stdout } = await arms.run(["arm"], {
      FM_PROCEVENT_LAUNCH_CONFIRM_SECONDS: "0",
      FM_ARM_CONFIRM_TIMEOUT: "30",
    });
    assertEquals([status, stdout], [
      1,
      "watcher: FAILED - FM_PROCEVENT_LAUNCH_CONFIRM_SECONDS must be whole seconds from 1 to 600\n",
    ]);
    assertEquals(arms.column("reason"), ["nonzero-exit"]);
  }),
  ["A19, A20: a killed child, and the arm after a foreign row", async (arms) => {
    const arm = await arms.watcherScript().startedArm();
    const dead = arms.watcherPid();
    Deno.kill(dead, "SIGKILL");
    const { status, stdout } = await arm.ended();
    assertEquals([status, stdout.split("\n")[1]], [
      137,
      "watcher: FAILED - watcher cycle exited 137 without an actionable reason",
    ]);
    assertEquals([arms.column("reason"), arms.column("signal")], [["signal-exit"], ["KILL"]]);
    assertFalse(exists(arms.path("state/.watcher-down")));
    assertEquals(arms.watcherPid(), dead);

    await arms.foreignRow();
    arms.home.remove("bin/fm-watch.sh");
    const next = arms.arm({ FM_ARM_CONFIRM_TIMEOUT: "30" });
    assertEquals(await next.ended(), {
      status: 0,
      stdout: `watcher: started pid=${next.pid} (beacon fresh)\n${RESURFACE}\n`,
      stderr: "",
    });
    assertEquals(arms.column("reason"), ["signal-exit", "actionable-check"]);
    assertEquals(arms.queue(), [["signal", "foreign", "signal: foreign"]]);
  }],
  ...bothWays("what a killed arm had its watcher print to goes", async (arms, way) => {
    const name = `.watch-arm-output.${await deadPid()}.aB3dE6`;
    arms.home.write(`state/${name}`);
    // A script that does not do it either.
    if (way === "child") arms.watcherScript("exit 1");
    const arm = way === "own" ? await arms.startedArm() : arms.arm();
    if (way === "own") arm.signal("SIGTERM");
    await arm.ended();
    assertEquals(arms.named(".watch-arm-output."), []);
  }),
  ["A19: a killed arm leaves no orphan, and its lock is taken over", async (arms) => {
    const arm = await arms.startedArm();
    assertEquals((await arm.signal("SIGKILL").ended()).status, 137);
    assertEquals(arms.watcherPid(), arm.pid);
    assertFalse(exists(arms.path("state/.watcher-down")));
    const { status, stdout } = await arms.run(["arm"], { FM_ARM_CONFIRM_TIMEOUT: "30" });
    assertEquals([status, stdout.split("\n")[1]], [0, RESURFACE]);
  }],
]);

/** A watcher that holds its lock and has given a beat, with something unreadable as its marker. */
const HEALTHY_SCRIPT = `
state="$FM_TEST_ROOT/state"
lock="$state/.watch.lock"
mkdir "$state/.watcher-down" "$lock"
echo "$$" >"$lock/pid"
echo "$FM_TEST_ROOT" >"$lock/fm-home"
echo "$FM_TEST_ROOT/bin/fm-watch.sh" >"$lock/watcher-path"
ticks=$(cut -d' ' -f22 "/proc/$$/stat")
words=$(od -An -v -tx1 "/proc/$$/cmdline" | tr -d ' \\n')
echo "linux-starttime=$ticks cmdline-hex=$words" >"$lock/pid-identity"
: >"$state/.last-watcher-beat"
while :; do sleep 1; done`;

scenarios("arm: gives up a watcher that cannot be confirmed", [
  ["a script that does not watch", async (arms) => {
    arms.watcherScript("echo words; echo more >&2; sleep 600 & echo $! >$FM_TEST_ROOT/child; wait");
    const { status, stdout, stderr } = await arms.run(["arm"], { FM_ARM_CONFIRM_TIMEOUT: "3" });
    assertEquals([status, stdout, stderr], [1, `words\n${NO_WATCHER}\n`, "more\n"]);
    assertEquals(arms.column("reason"), ["confirmation-timeout"]);
    assertEquals(arms.named(".watch-arm-output."), []);
    assertFalse(isRunning(Number(textOf(arms.path("child")))));
  }],
  ["a script that is nothing", async (arms) => {
    arms.home.write("bin/fm-watch.sh", "#!/nowhere/at/all\n");
    Deno.chmodSync(arms.path("bin/fm-watch.sh"), 0o755);
    const { status, stdout } = await arms.run(["arm"], { FM_ARM_CONFIRM_TIMEOUT: "30" });
    assert(status !== 0);
    assertStringIncludes(stdout, "watcher: FAILED - watcher cycle exited ");
    assertEquals(arms.named(".watch-arm-output."), []);
  }],
  ["no beat is ever fresh, and nothing comes up", async (arms) => {
    const { status, stdout } = await arms.run(["arm"], { FM_GUARD_GRACE: "0" });
    assertEquals([status, stdout], [1, `${NO_WATCHER}\n`]);
    assertEquals(arms.column("reason"), ["confirmation-timeout"]);
    assertEquals(arms.named(".watch.lock"), []);
  }],
  ["the child gets the settings, and what it continues", async (arms) => {
    arms.watcherScript('echo "check: $FM_GUARD_GRACE $FM_POLL $FM_WATCH_HANDLING_SUCCESSOR"');
    const { status, stdout } = await arms.run(["arm"], {
      FM_GUARD_GRACE: "77",
      FM_ARM_CONFIRM_TIMEOUT: "30",
      FM_WATCH_PREDECESSOR_ARM_PID: "1",
    });
    assertEquals([status, stdout], [0, "check: 77 0.2 1\n"]);
  }],
  ["a script that forwards to turnguard counts as none", async (arms) => {
    arms.watcherScript(": >$FM_TEST_ROOT/ran; exec turnguard watch");
    const arm = await arms.startedArm();
    assertEquals(arms.watcherPid(), arm.pid);
    assertFalse(exists(arms.path("ran")));
  }],
  ["a successor that cannot tell what it continues", async (arms) => {
    const arm = arms.watcherScript(HEALTHY_SCRIPT).arm({
      FM_ARM_CONFIRM_TIMEOUT: "30",
      FM_WATCH_PREDECESSOR_ARM_PID: "1",
    });
    const { status, stdout } = await arm.ended();
    assertEquals([status, stdout], [
      1,
      "watcher: FAILED - established successor could not inspect handling state\n",
    ]);
    assertEquals(arms.column("reason"), ["handling-handoff-failed"]);
    assertFalse(isRunning(arms.watcherPid()));
  }],
  ["a reader that has gone is told no wake, and it stays queued", async (arms) => {
    const arm = await arms.startedArm();
    await arm.closeOutput();
    const reason = arms.report();
    assertEquals((await arm.ended()).status, 1);
    assertEquals(arms.column("reason"), ["nonzero-exit"]);
    assertEquals(arms.queue(), [["signal", "t.status", reason]]);
    assertFalse(exists(arms.path("state/.watch-deliveries.log")));
  }],
  ["a state folder that is not there", async (arms) => {
    arms.home.remove("state");
    const { status, stdout, stderr } = await arms.run(["arm"]);
    assertEquals([status, stdout], [1, `${NO_WATCHER}\n`]);
    assertStringIncludes(stderr, "nothing was changed; run turnguard init");
    assertFalse(exists(arms.path("state")));
  }],
]);
