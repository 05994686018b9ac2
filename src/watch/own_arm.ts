/** The arm inside the hook's own process: attach to a healthy watcher, or be the watcher. */

import { judgeWatcher } from "../decide/watcher_health.ts";
import type { Home } from "../observe/home.ts";
import { graceVariables } from "../observe/turn_end.ts";
import { observeWatcher } from "../observe/watcher.ts";
import type { Environment } from "../platform/environment.ts";
import type { Pid } from "../platform/pid.ts";
import type { Processes } from "../platform/processes.ts";
import { ArmOutput } from "./arm_output.ts";
import { runWatcher, type WatcherEnd } from "./watcher.ts";

/** What an arm needs. */
export interface OwnArmSetup {
  readonly home: Home;
  /** The environment with the grace that the hook judges with. */
  readonly environment: Environment;
  readonly look: () => Processes;
  readonly stop: Promise<void>;
}

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
    output.add("watcher: FAILED - cycle ended without an actionable reason");
    return output;
  }
  const end = await runWatcher({
    ...setup,
    processes: setup.look(),
    started: () => output.add(`watcher: started pid=${Deno.pid} (beacon fresh)`),
  });
  output.add(describe(end));
  return output;
}

/** Follows whatever healthy watcher there is, also from one to its successor. */
async function followWatcher(setup: OwnArmSetup): Promise<void> {
  let stopped = false;
  const stop = setup.stop.then(() => {
    stopped = true;
  });
  while (!stopped && await healthyPid(setup) !== undefined) {
    let timer: number | undefined;
    const step = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ATTACH_STEP_MS);
    });
    await Promise.race([stop, step]);
    clearTimeout(timer);
  }
}

async function healthyPid({ home, environment, look }: OwnArmSetup): Promise<Pid | undefined> {
  const health = judgeWatcher(await observeWatcher(home, graceVariables(environment), look()));
  return health.kind === "healthy" ? health.pid : undefined;
}

function describe(end: WatcherEnd): string {
  switch (end.kind) {
    case "wake":
      return end.reason;
    case "already-running":
      return `watcher: already running${end.pid === undefined ? "" : ` pid ${end.pid}`}`;
    case "holder-stale":
      return `watcher: FAILED - lock held by live pid ${end.pid} that does not beat`;
    case "not-queued":
      return "watcher: FAILED - a wake could not be queued";
    case "home-gone":
      return "watcher: FAILED - the home is gone";
    case "lost-lock":
      return "watcher: FAILED - the watch lock was taken over";
    case "stopped":
      return "watcher: stopped";
  }
}
