/** An arm's own watcher, wherever it runs. */

import type { WatcherExit } from "../../decide/arm_cycle.ts";
import type { Pid } from "../../platform/pid.ts";

/** A watcher that was started. */
export interface WatcherRun {
  readonly pid: Pid;
  /** Everything that it has printed so far. */
  readonly output: () => string;
  /** How it ended; `undefined` while it runs. */
  readonly exit: () => RunExit | undefined;
  /** Asks it to end, and waits until it has. */
  readonly stop: () => Promise<RunExit>;
}

/** How it ended. */
export interface RunExit extends WatcherExit {
  /** What of the output nobody has been told yet. */
  readonly untold: string;
}
