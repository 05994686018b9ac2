/**
 * Stopping and restarting a home's watcher, and the confirmation that a wake reached its session.
 *
 * @module
 */

import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import { type ArmHome, scenarios, untilItIgnores } from "../support/arm_home.ts";
import { isRunning } from "../support/claude_session.ts";
import { exists, textOf } from "../support/files.ts";
import { deadPid, type Sleeper, startZombie } from "../support/processes.ts";
import { runTurnguard } from "../support/turnguard.ts";

const SIGTERM_NUMBER = 15;
const MARKER = "state/.watcher-down";
const RESURFACE = "check: rearm-resurface";
const OTHER_IDENTITY = "linux-starttime=1 cmdline-hex=00\n";

/** A healthy watcher that does not answer TERM. */
async function deafWatcher(arms: ArmHome): Promise<Sleeper> {
  const peer = arms.home.sleeper("/bin/sh", ["-c", "trap '' TERM; read -r line"]);
  await untilItIgnores(peer.pid, SIGTERM_NUMBER);
  await arms.home.recordWatcher(peer.pid);
  arms.home.beat(0);
  return peer;
}

scenarios("arm: stops a home's watcher, and no other process (A17)", [
  ["A17: no watcher", async (arms) => {
    const run = await arms.run(["arm", "--stop"]);
    assertEquals(run, { status: 0, stdout: "watcher: none running\n", stderr: "" });
  }],
  ["a dead watcher", async (arms) => {
    const pid = await deadPid();
    await arms.home.recordWatcher(pid, { identity: OTHER_IDENTITY });
    const run = await arms.run(["arm", "--stop"]);
    assertEquals([run.status, run.stdout], [0, "watcher: none running\n"]);
    assertEquals(arms.watcherPid(), pid);
  }],
  ["the watcher of an arm", async (arms) => {
    const arm = await arms.startedArm();
    const run = await arms.run(["arm", "--stop"]);
    assertEquals(run, { status: 0, stdout: `watcher: stopped pid=${arm.pid}\n`, stderr: "" });
    assertEquals((await arm.ended()).status, 143);
    assertEquals(arms.named(".watch.lock"), []);
    assertMatch(textOf(arms.path(MARKER)), /^pending:downtime:/);
  }],
  ["the watcher of an arm, as its child", async (arms) => {
    const arm = await arms.watcherScript().startedArm();
    const pid = arms.watcherPid();
    const run = await arms.run(["arm", "--stop"]);
    assertEquals([run.status, run.stdout], [0, `watcher: stopped pid=${pid}\n`]);
    const { status, stdout } = await arm.ended();
    assertEquals(status, 143);
    assertStringIncludes(stdout, "watcher: FAILED - watcher cycle exited 143 without ");
    assertEquals([arms.column("reason"), arms.column("signal")], [["signal-exit"], ["TERM"]]);
  }],
  ["a watcher that does not answer", async (arms) => {
    const peer = await deafWatcher(arms);
    const run = await arms.run(["arm", "--stop"]);
    assertEquals([run.status, run.stdout], [
      1,
      `watcher: FAILED - pid=${peer.pid} did not stop\n`,
    ]);
    assert(isRunning(peer.pid));
  }],
  ["a lock of another home", async (arms) => {
    const holder = await arms.home.watcher(0, { home: "/elsewhere", identity: OTHER_IDENTITY });
    const run = await arms.run(["arm", "--stop"]);
    assertEquals([run.status, run.stdout], [0, "watcher: none running\n"]);
    assertEquals(arms.watcherPid(), holder.pid);
    assertFalse(exists(arms.path(MARKER)));
  }],
  ["a lock without an identity", async (arms) => {
    const holder = await arms.home.watcher(0, { identity: null });
    await arms.run(["arm", "--stop"]);
    assertEquals(arms.watcherPid(), holder.pid);
    assert(isRunning(holder.pid));
  }],
  ["a lock whose process has ended and was not collected", async (arms) => {
    await using zombie = await startZombie();
    await arms.home.recordWatcher(zombie.pid, { identity: OTHER_IDENTITY });
    const run = await arms.run(["arm", "--stop"]);
    assertEquals([run.status, run.stdout], [0, "watcher: none running\n"]);
    assertEquals(arms.named(".watch.lock"), []);
    assertMatch(textOf(arms.path(MARKER)), /^pending:downtime:/);
  }],
  ["a lock that must stay, since the downtime cannot be recorded", async (arms) => {
    const holder = await arms.home.watcher(0, { identity: OTHER_IDENTITY });
    Deno.mkdirSync(arms.path(MARKER));
    const { status, stdout, stderr } = await arms.run(["arm", "--stop"]);
    assertEquals([status, stdout, stderr], [
      1,
      "",
      "watcher: FAILED - stale watcher recovery state could not be persisted\n",
    ]);
    assertEquals(arms.watcherPid(), holder.pid);
    assert(isRunning(holder.pid));
  }],
]);

scenarios("arm: restarts a home's watcher (A12, A13)", [
  ["A12: a pid that was reused is not signalled", async (arms) => {
    const stranger = await arms.home.watcher(0, { identity: OTHER_IDENTITY });
    const arm = arms.arm({ FM_ARM_CONFIRM_TIMEOUT: "30" }, "--restart");
    assertEquals((await arm.ended()).stdout.split("\n"), [
      `watcher: started pid=${arm.pid} (beacon fresh)`,
      RESURFACE,
      "",
    ]);
    assert(isRunning(stranger.pid));
    assertMatch(textOf(arms.path(MARKER)), /^announced:downtime:/);
    assertEquals(arms.named(".watch.lock"), []);
  }],
  ["A12: the lock stays where the downtime cannot be recorded", async (arms) => {
    const stranger = await arms.home.watcher(0, { identity: OTHER_IDENTITY });
    Deno.mkdirSync(arms.path(MARKER));
    const run = await arms.run(["arm", "--restart"]);
    assertEquals([run.status, run.stdout], [1, ""]);
    assertEquals(arms.watcherPid(), stranger.pid);
  }],
  ["A13: a healthy peer that does not answer is followed", async (arms) => {
    const peer = await deafWatcher(arms);
    const arm = arms.arm({ FM_ARM_CONFIRM_TIMEOUT: "30" }, "--restart");
    await arm.line(new RegExp(`^watcher: attached pid=${peer.pid} `));
    assert(isRunning(peer.pid));
    assertStringIncludes(arm.stdout, `watcher: already running pid ${peer.pid}\n`);
    assertEquals(arms.column("reason"), ["unexpected-clean-exit"]);
    assertEquals(arms.column("successor"), [`attached:${peer.pid}`]);
    assertEquals((await arm.signal("SIGTERM").ended()).status, 143);
  }],
  ["the watcher of another arm is replaced", async (arms) => {
    const first = await arms.startedArm();
    const second = arms.arm({ FM_ARM_CONFIRM_TIMEOUT: "30" }, "--restart");
    assertEquals((await first.ended()).status, 143);
    const { status, stdout } = await second.ended();
    assertEquals([status, stdout.split("\n")[1]], [0, RESURFACE]);
  }],
]);

scenarios("arm: confirms that a wake was delivered (A16)", [
  ["A16: the open stretch, and then another one", async (arms) => {
    const watcher = await arms.home.watcher(0);
    arms.home.write(MARKER, "pending:downtime:g.1-x\n");
    const confirm = (generation: string, pid: number) =>
      arms.run(["arm", "--handling-delivered", generation, "--watcher-pid", `${pid}`]);
    assertEquals((await confirm("g2", watcher.pid)).status, 3);
    assertEquals(textOf(arms.path(MARKER)), "pending:downtime:g.1-x\n");
    assertEquals((await confirm("g.1-x", arms.home.sleeper().pid)).status, 1);
    assertEquals((await confirm("g.1-x", await deadPid())).status, 1);
    assertEquals(textOf(arms.path(MARKER)), "pending:downtime:g.1-x\n");
    assertEquals(await confirm("g.1-x", watcher.pid), { status: 0, stdout: "", stderr: "" });
    assertEquals(textOf(arms.path(MARKER)), "pending:handling:g.1-x\n");
  }],
  ["a stretch that is not there", async (arms) => {
    const { pid } = await arms.home.watcher(0);
    const words = ["arm", "--handling-delivered", "g", "--watcher-pid", `${pid}`];
    assertEquals((await arms.run(words)).status, 1);
    assertFalse(exists(arms.path(MARKER)));
  }],
]);

/** Command lines that are refused. */
const REFUSED: readonly (readonly string[])[] = [
  ["now"],
  ["arm", "arm"],
  ["--restart", "--stop"],
  ["--arm", "--restart"],
  ["--what"],
  ["--handling-delivered"],
  ["--handling-delivered", "g"],
  ["--handling-delivered", "g g", "--watcher-pid", "1"],
  ["--handling-delivered", "g", "--watcher-pid", "x"],
  ["--handling-delivered", "g", "--watcher-pid", "0"],
  ["--watcher-pid", "1"],
  ["--stop", "--", "x"],
];

scenarios("arm: refuses what it does not understand", [
  ["usage", async (arms) => {
    for (const words of REFUSED) {
      const { status, stdout, stderr } = await arms.run(["arm", ...words]);
      assertEquals([status, stdout], [2, ""], words.join(" "));
      assertStringIncludes(stderr, "nothing was done", words.join(" "));
    }
    assertEquals(arms.named("."), []);
  }],
  ["a disposable validation checkout", async (arms) => {
    const root = `${arms.home.folder}/.no-mistakes/worktrees/w1`;
    Deno.mkdirSync(`${root}/state`, { recursive: true });
    const link = `${arms.home.folder}/link`;
    Deno.symlinkSync(root, link);
    for (const given of [root, link]) {
      const run = await runTurnguard(["arm", "--root", given]);
      assertEquals([run.status, run.stdout], [
        1,
        `watcher: FAILED - refusing to arm from a disposable validation checkout: ${root}/bin\n`,
      ]);
    }
    const env = { FM_GATE_REFUSE_BYPASS: "1" };
    const run = await runTurnguard(["arm", "--root", root, "--stop"], { env });
    assertEquals([run.status, run.stdout], [0, "watcher: none running\n"]);
  }],
]);
