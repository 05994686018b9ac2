/** The watcher's part in process-event sources: keeps their runners alive, cycle by cycle. */

import { numberSetting } from "../../decide/number.ts";
import type { Home } from "../../observe/home.ts";
import type { Environment } from "../../platform/environment.ts";
import { targetKind } from "../../platform/path_kind.ts";
import { sourceFolder } from "../../state/procevent/source.ts";
import { reconcile } from "./reconcile.ts";
import { sourceSetup } from "./setup.ts";

const DEFAULT_CONFIRM_SECONDS = 3;
const LONGEST_CONFIRM_SECONDS = 600;

/** Milliseconds that a cycle waits for the lock of a source that somebody works on. */
const LOCK_LIMIT_MS = 200;

/**
 * Seconds that launched runners have to prove themselves, or `undefined` when the variable is set to
 * something that is not a whole number from 1 to 600: the watcher must not start then.
 */
export function confirmSeconds(environment: Environment): number | undefined {
  const text = environment.get("FM_PROCEVENT_LAUNCH_CONFIRM_SECONDS");
  const setting = numberSetting(text, "positive-digits", DEFAULT_CONFIRM_SECONDS);
  if (setting.kind === "malformed" || setting.value > LONGEST_CONFIRM_SECONDS) return undefined;
  return setting.value;
}

/** Repairs the runners of a home that has sources. Never throws; what fails is tried next time. */
export async function repairSources(home: Home, environment: Environment): Promise<void> {
  if (targetKind(sourceFolder(home.state)) !== "directory") return;
  try {
    await reconcile(sourceSetup(home, environment), {
      confirmSeconds: confirmSeconds(environment) ?? DEFAULT_CONFIRM_SECONDS,
      lockMs: LOCK_LIMIT_MS,
    });
  } catch {
    // No claims are possible here; the mode says so to whoever asks.
  }
}
