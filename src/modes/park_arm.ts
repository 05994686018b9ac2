/** The arm of a Cursor park: the home's own where it brings one, else the watcher in this process. */

import type { Home } from "../observe/home.ts";
import { type Environment, environmentWith } from "../platform/environment.ts";
import type { Processes } from "../platform/processes.ts";
import type { ArmOutput } from "../watch/arm_output.ts";
import { runOwnArm } from "../watch/own_arm.ts";
import { relaySettings } from "../watch/relay_settings.ts";
import { armScript, runArmScript } from "../watch/script_arm.ts";

/** What it needs. */
export interface ParkArmSetup {
  readonly home: Home;
  readonly environment: Environment;
  /** Values that children get as well. */
  readonly foreign: Readonly<Record<string, string>>;
  readonly look: () => Processes;
}

/** Returns what runs one arm until it ends or `stop` resolves. */
export function armPark(setup: ParkArmSetup): (stop: Promise<void>) => Promise<ArmOutput> {
  const { home, foreign, look } = setup;
  const { environment, added } = environmentWith(setup.environment, {
    ...relaySettings(home.config),
    ...foreign,
  });
  const script = armScript(home.root);
  return (stop) =>
    script === undefined
      ? runOwnArm({ home, environment, look, stop })
      : runArmScript(script, added, stop);
}
