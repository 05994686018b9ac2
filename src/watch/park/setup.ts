/** What a Cursor park works with. */

import type { StopEvent } from "../../act/park/baton.ts";
import type { Need } from "../../decide/need.ts";
import type { ParkSettings } from "../../decide/park/settings.ts";
import type { HomeCommands } from "../../harness/commands.ts";
import type { Home } from "../../observe/home.ts";
import type { Pid } from "../../platform/pid.ts";
import type { ParkArm } from "./park_arm.ts";

/** Why a park has to end before its arm does. */
export type ParkInterruption = "signalled" | "session-end" | "time-limit";

/** Everything around a park that it does not decide itself. */
export interface ParkSetup {
  readonly home: Home;
  readonly settings: ParkSettings;
  readonly commands: HomeCommands;
  /** The host's count of follow-ups in a row. */
  readonly loopCount: number;
  /** Whose repair budget is counted. */
  readonly session: string;
  readonly event: StopEvent;
  /** What the session lock named when it was proven to be ours. */
  readonly owner: Pid;
  /** Proves again that the session lock is this session's; looks at processes. */
  readonly ownsSession: () => Promise<boolean>;
  /** Whether a strict look finds a healthy watcher of this home. */
  readonly isWatched: () => Promise<boolean>;
  readonly need: () => Need;
  readonly arm: ParkArm;
  /** The guard's banner for this stop; `undefined` when it lets the turn end. */
  readonly judge: () => Promise<string | undefined>;
  readonly interruption: Promise<ParkInterruption>;
  /** Gives the host its answer; whether it reached the host. */
  readonly print: (answer: string) => Promise<boolean>;
}
