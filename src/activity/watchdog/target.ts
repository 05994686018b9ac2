/** What a watchdog watches. */

import type { Pid } from "../../platform/pid.ts";

/** Whether a target is still what it was. */
export type TargetState = "here" | "gone" | "unknown";

/** A harness process and what comes with it. */
export interface Target {
  readonly mode: "runner" | "sidecar";
  readonly pid: Pid;
  /** The group that may be signalled as one; `undefined` where others are in it. */
  readonly group: Pid | undefined;
  /** Start and boot; `undefined` when it could not be read. */
  readonly identity: string | undefined;
  /** Resolves when the target is known to have ended; a sidecar's never does. */
  readonly ended: Promise<void>;
  /** Looks whether it is still there. */
  readonly look: () => Promise<TargetState>;
}
