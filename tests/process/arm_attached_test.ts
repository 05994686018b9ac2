/**
 * Arms that follow a watcher which somebody else runs.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import {
  NO_REASON,
  recordDelivery,
  type Running,
  type Scenario,
  scenarios,
  untilItLooked,
} from "../support/arm_home.ts";
import { isRunning } from "../support/claude_session.ts";
import { until } from "../support/processes.ts";

/** Status and last line of a run. */
async function lastWord(run: Running): Promise<readonly [status: number, line: string]> {
  const { status, stdout } = await run.ended();
  return [status, stdout.trimEnd().split("\n").at(-1) ?? ""];
}

/** A beat so old that it is stale by any grace that is used here, and far from any bound. */
const SLOW_SECONDS = 100;

scenarios("arm: follows somebody else's watcher to its end (A2, A3, A4, A5)", [
  ["A2: ends with the reason that the holder delivered", async (arms) => {
    const watch = await arms.beatingWatch();
    const arm = await arms.attachedArm(watch.pid);
    const reason = arms.report();
    assertEquals((await watch.ended()).stdout, `${reason}\n`);
    assertEquals(await lastWord(arm), [0, reason]);
    assertEquals(arms.column("reason"), ["attached-delivered-wake"]);
    assertEquals(arms.column("origin"), ["attached"]);
    assertEquals(arms.column("watcher_pid"), [String(watch.pid)]);
    assertEquals(arms.named(".watch.lock"), []);
  }],
  ["A3: a killed holder that delivered nothing", async (arms) => {
    const holder = await arms.home.watcher(0);
    const arm = await arms.attachedArm(holder.pid);
    await holder.end();
    assertEquals(await lastWord(arm), [1, NO_REASON]);
    assertEquals(arms.column("reason"), ["attached-cycle-ended"]);
    assertEquals(arms.column("successor"), ["none"]);
  }],
  ["A4: a row of another program is no delivery", async (arms) => {
    const holder = await arms.home.watcher(0);
    const arm = await arms.attachedArm(holder.pid);
    await arms.foreignRow();
    await holder.end();
    assertEquals(await lastWord(arm), [1, NO_REASON]);
    assertEquals(arms.queue().length, 1);
  }],
  ["A5: a wake that was handled before the arm noticed", async (arms) => {
    const watch = await arms.beatingWatch();
    const arm = await arms.attachedArm(watch.pid);
    const reason = arms.report();
    assertEquals((await watch.ended()).status, 0);
    const drained = await arms.run(["wake", "drain"]);
    const command = /run turnguard (.*)$/m.exec(drained.stderr)?.[1]?.split(" ") ?? [];
    const words = command.filter((word) => word !== "--root" && word !== arms.home.root);
    assertEquals((await arms.run(words)).status, 0);
    assertEquals(arms.queue(), []);
    assertEquals(await lastWord(arm), [0, reason]);
  }],
  ["a delivery of a process that had the same pid is none", async (arms) => {
    const holder = await arms.home.watcher(0);
    arms.home.write("state/.watch-deliveries.log", `${holder.pid}\tlinux-starttime=1\tcheck: x\n`);
    const arm = await arms.attachedArm(holder.pid);
    await holder.end();
    assertEquals(await lastWord(arm), [1, NO_REASON]);
  }],
]);

scenarios("arm: is patient with a slow watcher, within bounds (A6, A7)", [
  ["A6: a holder that was stopped for a while and then delivers", async (arms) => {
    const watch = await arms.beatingWatch();
    const arm = await arms.attachedArm(watch.pid, {
      FM_GUARD_GRACE: "4",
      FM_WATCHER_STALL_BOUND: "600",
    });
    watch.signal("SIGSTOP");
    arms.home.beat(SLOW_SECONDS);
    await untilItLooked(arm.pid, 100);
    assert(arm.isRunning);
    watch.signal("SIGCONT");
    const reason = arms.report();
    const { status, stdout } = await arm.ended();
    assertEquals([status, stdout.split("\n").slice(1)], [0, [reason, ""]]);
    assertEquals(arms.column("reason"), ["attached-delivered-wake"]);
  }],
  ["A7: a holder that never beats, and the arm after that", async (arms) => {
    const bounds = { FM_GUARD_GRACE: "5", FM_WATCHER_STALL_BOUND: "12" };
    const holder = await arms.home.watcher(0);
    const arm = await arms.attachedArm(holder.pid, bounds);
    arms.home.beatAt(Math.floor(Date.now() / 1000) - SLOW_SECONDS);
    const [status, line] = await lastWord(arm);
    assertEquals(status, 1);
    assertMatch(
      line,
      new RegExp(
        `^watcher: FAILED - attached watcher pid=${holder.pid} stalled ` +
          `\\(beacon 10[0-9]s at or past hard bound 12s\\)$`,
      ),
    );
    assertEquals(arms.column("reason"), ["attached-holder-stalled"]);
    assert(isRunning(holder.pid));

    const next = arms.arm({ ...bounds, FM_ARM_CONFIRM_TIMEOUT: "30" });
    const result = await next.ended();
    assertEquals(result.status, 0, result.stderr);
    const [started, replaced, reason] = result.stdout.split("\n");
    assertEquals(started, `watcher: started pid=${next.pid} (beacon fresh)`);
    assertMatch(
      replaced ?? "",
      new RegExp(
        `^watcher: replaced stalled pid ${holder.pid} ` +
          `\\(beacon 1[0-9]{2}s past hard bound 12s\\)$`,
      ),
    );
    assertEquals(reason, "check: rearm-resurface");
    assertEquals(arms.column("reason").slice(1), ["stalled-holder-replaced", "actionable-check"]);
    assertEquals(arms.rows()[1]?.["successor"], `started:${next.pid}`);
  }],
  ["a holder without any beat is given the bound as well", async (arms) => {
    const holder = await arms.home.watcher(0);
    const arm = await arms.attachedArm(holder.pid, { FM_WATCHER_STALL_BOUND: "2" });
    arms.home.remove("state/.last-watcher-beat");
    const [status, line] = await lastWord(arm);
    assertEquals(status, 1);
    assertMatch(line, / stalled \(beacon [23]s at or past hard bound 2s\)$/);
  }],
]);

scenarios("arm: goes from one watcher to the next", [
  ["a lock that another watcher took", async (arms) => {
    const first = await arms.home.watcher(0);
    const arm = await arms.attachedArm(first.pid);
    arms.home.remove("state/.watch.lock").remove("state/.watch.lock.owner.k3Qz9B");
    const second = await arms.home.watcher(0);
    await arm.line(new RegExp(`^watcher: attached pid=${second.pid} `));
    await recordDelivery(arms, second.pid, "heartbeat");
    await second.end();
    assertEquals(await lastWord(arm), [0, "heartbeat"]);
    const [moved, ended] = arms.rows();
    assertEquals(moved?.["successor"], `attached:${second.pid}`);
    assert(["lock-replaced", "attached-cycle-ended"].includes(moved?.["reason"] ?? ""));
    assertEquals(ended?.["reason"], "attached-delivered-wake");
  }],
  ["a watcher that comes after one that died", async (arms) => {
    const first = await arms.home.watcher(0);
    const arm = await arms.attachedArm(first.pid, { FM_ARM_CONFIRM_TIMEOUT: "30" });
    await first.end();
    arms.home.write("state/.watcher-down", "pending:handling:g\n");
    const second = await arms.beatingWatch({ FM_WATCH_HANDLING_SUCCESSOR: "1" });
    await arm.line(new RegExp(`^watcher: attached pid=${second.pid} `));
    assertEquals(arms.column("reason"), ["attached-cycle-ended"]);
    assertEquals(arms.column("successor"), [`attached:${second.pid}`]);
  }],
]);

scenarios("arm: a signal ends an attached arm alone (A11)", [
  ...(["SIGTERM", "SIGINT", "SIGHUP"] as const).map((
    signal,
  ): Scenario => [`A11: ${signal}`, async (arms) => {
    const holder = await arms.home.watcher(0);
    const arm = await arms.attachedArm(holder.pid);
    const { status } = await arm.signal(signal).ended();
    assertEquals(status, { SIGTERM: 143, SIGINT: 130, SIGHUP: 129 }[signal]);
    assertEquals(arms.column("reason"), ["arm-interrupted"]);
    assertEquals(arms.column("signal"), [signal.slice(3)]);
    assertEquals(arms.watcherPid(), holder.pid);
    assert(isRunning(holder.pid));
  }]),
  ["a ledger that is held delays nothing", async (arms) => {
    const holder = await arms.home.watcher(0);
    const lock = arms.path("state/.watch-cycle-exits.lock");
    arms.home.write("state/.watch-cycle-exits.lock/pid", `${holder.pid}\n`);
    const arm = await arms.attachedArm(holder.pid);
    const { status, stderr } = await arm.signal("SIGTERM").ended();
    assertEquals(status, 143);
    assertStringIncludes(
      stderr,
      `watcher-ledger: row arm-interrupted skipped - ${lock} stayed held for 400ms\n`,
    );
    assertEquals(arms.rows(), []);
  }],
]);

scenarios("arm: a real watcher is followed through its stop", [
  ["an arm beside it ends without a reason", async (arms) => {
    const watch = await arms.beatingWatch();
    const arm = await arms.attachedArm(watch.pid);
    watch.signal("SIGTERM");
    await until(() => arms.watcherPid() === 0);
    assertEquals(await lastWord(arm), [1, NO_REASON]);
  }],
]);
