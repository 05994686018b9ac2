/** The arm inside the hook's own process: attach to a healthy watcher, or be the watcher. */

import type { HealthyWatcher } from "../decide/attached_watcher.ts";
import type { Home } from "../observe/home.ts";
import { Bell } from "../platform/bell.ts";
import type { Environment } from "../platform/environment.ts";
import type { Processes } from "../platform/processes.ts";
import { attachedLine, exitedLine, NO_REASON, stalledLine, startedLine } from "./arm_lines.ts";
import { ArmOutput } from "./arm_output.ts";
import { awaitWatcher, type FollowSetup, followWatcher, lookForWatcher } from "./follow.ts";
import { runWatcher } from "./watcher.ts";
import { endReport, startReport } from "./watcher_report.ts";

/** What an arm needs. */
export interface OwnArmSetup {
  readonly home: Home;
  /** The environment with the grace that the hook judges with. */
  readonly environment: Environment;
  readonly look: () => Processes;
  readonly stop: Promise<void>;
}

/**
 * Supervises in this process until something is to be told, and returns what a separate arm would have
 * printed. One resident runtime a parked home instead of three.
 */
export async function runOwnArm(setup: OwnArmSetup): Promise<ArmOutput> {
  const output = new ArmOutput();
  const bell = new Bell();
  let stopped = false;
  void setup.stop.then(() => {
    stopped = true;
    bell.ring();
  });
  const following: FollowSetup = {
    ...setup,
    bell,
    stopping: () => stopped,
    moved: (to) => Promise.resolve(output.add(attachedLine(to))),
  };
  const other = await lookForWatcher(following);
  if (other !== undefined) await follow(following, other, output);
  else if (await watchHere(setup, output) === "in-vain") {
    const successor = await awaitWatcher(following);
    if (successor === undefined) output.add(NO_REASON);
    else await follow(following, successor, output);
  }
  return output;
}

/** Is the watcher. `in-vain`: it ended well without a word, since the lock is somebody else's. */
async function watchHere(setup: OwnArmSetup, output: ArmOutput): Promise<"told" | "in-vain"> {
  const end = await runWatcher({
    ...setup,
    started: (start) => {
      output.addText(startReport(start));
      output.add(startedLine(Deno.pid));
    },
    tell: (reason) => {
      output.addText(reason);
      return Promise.resolve("written");
    },
  });
  const { stdout, stderr, status } = endReport(end);
  output.addText(stdout + stderr);
  if (status !== 0 && end.kind !== "bad-setting") output.add(exitedLine(status));
  return end.kind === "lost-lock" || end.kind === "already-running" ? "in-vain" : "told";
}

async function follow(
  setup: FollowSetup,
  watcher: HealthyWatcher,
  output: ArmOutput,
): Promise<void> {
  output.add(attachedLine(watcher));
  const end = await followWatcher(setup, watcher);
  switch (end.kind) {
    case "stopped":
      return;
    case "stalled":
      return output.add(stalledLine(end.watcher.pid, end.ageSeconds, end.boundSeconds));
    case "delivered":
      return output.addText(end.reason);
    case "nothing-delivered":
      return output.add(NO_REASON);
  }
}
