/** When checks are due: the settings, and the file whose time is that of the last sweep. */

import { numberSetting } from "../../decide/number.ts";
import { ageSeconds } from "../../platform/clock.ts";
import type { Environment } from "../../platform/environment.ts";
import { touch } from "../touch.ts";

/** Name of the file whose modification time is that of the last sweep. */
export const LAST_CHECK_NAME = ".last-check";

const DEFAULT_INTERVAL_SECONDS = 300;
const DEFAULT_TIMEOUT_SECONDS = 30;

/** How often checks run, and how long one may take. */
export interface CheckSettings {
  /** 0 is every cycle. */
  readonly intervalSeconds: number;
  readonly timeoutSeconds: number;
}

/** The settings in the environment; a malformed one counts as unset. */
export function checkSettings(environment: Environment): CheckSettings {
  const interval = environment.get("FM_CHECK_INTERVAL");
  const timeout = environment.get("FM_CHECK_TIMEOUT");
  return {
    intervalSeconds: numberSetting(interval, "digits", DEFAULT_INTERVAL_SECONDS).value,
    timeoutSeconds: numberSetting(timeout, "positive-digits", DEFAULT_TIMEOUT_SECONDS).value,
  };
}

/** Age of a cadence file that is missing, or that comes from the future. */
const OVERDUE_SECONDS = 999_999;

/**
 * Age of a cadence file in whole seconds.
 *
 * A file from the future counts as overdue: after a step of the clock, work is done too early rather
 * than never.
 */
export function dueAgeSeconds(path: string): number {
  const age = ageSeconds(path);
  return age === undefined || age < 0 ? OVERDUE_SECONDS : age;
}

/** Whether a sweep is due. */
export function isSweepDue(state: string, settings: CheckSettings): boolean {
  return dueAgeSeconds(`${state}/${LAST_CHECK_NAME}`) >= settings.intervalSeconds;
}

/** Notes that a sweep was made now. Throws what the operating system reports. */
export function touchLastCheck(state: string): void {
  touch(`${state}/${LAST_CHECK_NAME}`);
}
