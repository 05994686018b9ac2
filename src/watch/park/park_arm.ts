/** The arm of a Cursor park: the home's own where it brings one, else the watcher in this process. */

import type { Home } from "../../observe/home.ts";
import { Bell } from "../../platform/bell.ts";
import { type Environment, environmentWith } from "../../platform/environment.ts";
import type { Pid } from "../../platform/pid.ts";
import type { Processes } from "../../platform/processes.ts";
import { ArmOutput } from "../arm_output.ts";
import { runOwnArm } from "../own_arm.ts";
import { relaySettings } from "../relay_settings.ts";
import { armScript, runArmScript } from "../script_arm.ts";
import { takeWatchOver } from "./handover.ts";

/** Milliseconds that an arm of the home's own has to end, its watcher included, before it is killed. */
const KILL_AFTER_MS = 5_000;

/** What it needs. */
export interface ParkArmSetup {
  readonly home: Home;
  readonly environment: Environment;
  /** Values that children get as well. */
  readonly foreign: Readonly<Record<string, string>>;
  readonly look: () => Processes;
  /** Milliseconds between two looks of a park at whether it may stay. */
  readonly pollMs: number;
}

/** Runs one arm until it ends or `stop` resolves; `earlier` is a park that is about to let the watch go. */
export type ParkArm = (stop: Promise<void>, earlier: Pid | undefined) => Promise<ArmOutput>;

/** Returns what runs the arms of one park. */
export function parkArm(setup: ParkArmSetup): ParkArm {
  const { home, foreign, look, pollMs } = setup;
  const { environment, added } = environmentWith(setup.environment, {
    ...relaySettings(home.config),
    ...foreign,
  });
  const script = armScript(home.root);
  return async (stop, earlier) => {
    if (script !== undefined) return await runArmScript(script, added, stop, KILL_AFTER_MS);
    if (earlier !== undefined) {
      const bell = new Bell();
      let stopped = false;
      void stop.then(() => {
        stopped = true;
        bell.ring();
      });
      const { state } = home;
      await takeWatchOver({ state, environment, pollMs, stopping: () => stopped, bell }, earlier);
      if (stopped) return new ArmOutput();
    }
    return await runOwnArm({ home, environment, look, stop });
  };
}
