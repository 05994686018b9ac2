/** The watch lock and the beacon of a home. */

import type { BeaconFact, WatcherFact } from "../decide/facts.ts";
import type { GraceVariables } from "../decide/grace.ts";
import { readCapture } from "../platform/file_text.ts";
import { liveness } from "../platform/liveness.ts";
import type { MachineClocks } from "../platform/machine_clocks.ts";
import { parsePid } from "../platform/pid.ts";
import type { Processes } from "../platform/processes.ts";
import { observeBeacon } from "./beacon.ts";
import { observeHolder } from "./holder.ts";
import type { Home } from "./home.ts";

/** Name of the watch lock in a state directory. */
export const WATCH_LOCK_NAME = ".watch.lock";

/** Observes what the strict watcher check judges. */
export async function observeWatcher(
  home: Home,
  variables: GraceVariables,
  processes: Processes,
): Promise<WatcherFact> {
  const lock = `${home.state}/${WATCH_LOCK_NAME}`;
  const beacon = observeBeacon(home.state);
  // Before the holder: what is read with the clocks is not read again.
  const clocks = isConspicuous(beacon) ? await clocksWithHolder(lock, processes) : undefined;
  return {
    ...(clocks === undefined ? {} : { clocks }),
    holder: await observeHolder(lock, processes),
    home: readCapture(`${lock}/fm-home`),
    path: readCapture(`${lock}/watcher-path`),
    identity: readCapture(`${lock}/pid-identity`),
    expectedHome: home.home,
    expectedPath: home.watcherPath,
    beacon,
    grace: variables,
  };
}

/** Seconds of age that no watcher with the usual poll reaches. */
const CONSPICUOUS_SECONDS = 60;

function isConspicuous(beacon: BeaconFact): boolean {
  return beacon.kind === "beat" && beacon.ageSeconds > CONSPICUOUS_SECONDS;
}

async function clocksWithHolder(
  lock: string,
  processes: Processes,
): Promise<MachineClocks | undefined> {
  const recorded = readCapture(`${lock}/pid`);
  const pid = recorded.kind === "text" ? parsePid(recorded.text) : undefined;
  if (pid === undefined || liveness(pid) !== "alive") return undefined;
  return await processes.clocksWith(pid);
}
