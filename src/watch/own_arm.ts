/** The arm inside the hook's own process: attach to a healthy watcher, or be the watcher. */

import { judgeWatcher } from "../decide/watcher_health.ts";
import type { Home } from "../observe/home.ts";
import { graceVariables } from "../observe/turn_end.ts";
import { observeWatcher, WATCH_LOCK_NAME } from "../observe/watcher.ts";
import { Bell } from "../platform/bell.ts";
import type { Environment } from "../platform/environment.ts";
import { readCapture } from "../platform/file_text.ts";
import { liveness } from "../platform/liveness.ts";
import { parsePid, type Pid } from "../platform/pid.ts";
import type { Processes } from "../platform/processes.ts";
import { ArmOutput } from "./arm_output.ts";
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

const NO_REASON = "watcher: FAILED - cycle ended without an actionable reason";

/** Milliseconds between looks at a watcher that somebody else runs. */
const ATTACH_STEP_MS = 500;

/**
 * Supervises in this process until something is to be told, and returns what a separate arm would have
 * printed. One resident runtime a parked home instead of three.
 */
export async function runOwnArm(setup: OwnArmSetup): Promise<ArmOutput> {
  const output = new ArmOutput();
  const attached = await healthyPid(setup);
  if (attached !== undefined) {
    output.add(`watcher: attached pid=${attached}`);
    await followWatcher(setup);
    output.add(NO_REASON);
    return output;
  }
  const end = await runWatcher({
    ...setup,
    started: (start) => {
      output.addText(startReport(start));
      output.add(`watcher: started pid=${Deno.pid} (beacon fresh)`);
    },
    tell: (reason) => {
      output.addText(reason);
      return Promise.resolve("written");
    },
  });
  const { stdout, stderr, status } = endReport(end);
  output.addText(stdout + stderr);
  if (end.kind === "lost-lock") output.add(NO_REASON);
  if (status !== 0 && end.kind !== "bad-setting") {
    output.add(`watcher: FAILED - watcher cycle exited ${status} without an actionable reason`);
  }
  return output;
}

/**
 * Follows whatever healthy watcher there is, also from one to its successor.
 *
 * The full proof starts a program, so it is asked for again only when what can be seen without one has
 * changed, and now and then in any case: a pid may have been reused in between.
 */
async function followWatcher(setup: OwnArmSetup): Promise<void> {
  const { state } = setup.home;
  let stopped = false;
  const bell = new Bell();
  void setup.stop.then(() => {
    stopped = true;
    bell.ring();
  });
  while (!stopped && await healthyPid(setup) !== undefined) {
    const proven = glance(state);
    for (let look = 0; look < GLANCES_PER_PROOF && !stopped; look++) {
      await bell.within(ATTACH_STEP_MS);
      if (glance(state) !== proven || proven === undefined) break;
    }
  }
}

/** Glances between two full proofs: half a minute. */
const GLANCES_PER_PROOF = 60;

/** The holder of the watch lock as far as files and a signal tell; `undefined` when it is not alive. */
function glance(state: string): string | undefined {
  const recorded = readCapture(`${state}/${WATCH_LOCK_NAME}/pid`);
  const pid = recorded.kind === "text" ? parsePid(recorded.text) : undefined;
  return pid !== undefined && liveness(pid) === "alive" ? String(pid) : undefined;
}

async function healthyPid({ home, environment, look }: OwnArmSetup): Promise<Pid | undefined> {
  const health = judgeWatcher(await observeWatcher(home, graceVariables(environment), look()));
  return health.kind === "healthy" ? health.pid : undefined;
}
