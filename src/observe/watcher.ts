/** The watch lock and the beacon of a home. */

import type { WatcherFact } from "../decide/facts.ts";
import type { GraceVariables } from "../decide/grace.ts";
import { readCapture } from "../platform/file_text.ts";
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
  return {
    holder: await observeHolder(lock, processes),
    home: readCapture(`${lock}/fm-home`),
    path: readCapture(`${lock}/watcher-path`),
    identity: readCapture(`${lock}/pid-identity`),
    expectedHome: home.home,
    expectedPath: home.watcherPath,
    beacon: observeBeacon(home.state),
    grace: variables,
  };
}
