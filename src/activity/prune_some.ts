/** Keeping the folder of activity files from growing, a few files at a time. */

import { join } from "@std/path";
import type { ExpiryLimits } from "../decide/activity/limits.ts";
import type { Environment } from "../platform/environment.ts";
import { ACTIVITY_NAME } from "./activity_paths.ts";
import { fleetEntry } from "./fleet.ts";
import type { ProcessChain } from "./process_chain.ts";
import { isPrunable, pruneSession } from "./prune_activity.ts";

/** Files that are looked at, and milliseconds for all of them: a session's start waits for this. */
const CANDIDATES = 32;
const LIMIT_MS = 300;

/** Milliseconds for which no file is looked at: nothing is over so soon. */
const YOUNG_MS = 24 * 3_600_000;

/** What pruning needs. */
export interface PruneSetup {
  readonly environment: Environment;
  readonly uid: number;
  readonly limits: ExpiryLimits;
  readonly chain: ProcessChain;
}

/** Removes what is long over in `folder`. Never throws. */
export async function pruneSome(folder: string, setup: PruneSetup): Promise<void> {
  const end = performance.now() + LIMIT_MS;
  try {
    const old = Array.from(Deno.readDirSync(folder), ({ name }) => name)
      .filter((name) => ACTIVITY_NAME.test(name)).map((name) => join(folder, name))
      .filter((path) => Date.now() - (Deno.lstatSync(path).mtime?.getTime() ?? 0) > YOUNG_MS);
    for (const path of old.slice(0, CANDIDATES)) {
      if (performance.now() > end) return;
      const entry = await fleetEntry(path, setup);
      if (entry?.kind !== "session" || !isPrunable(entry, Date.now() / 1000)) continue;
      pruneSession(path, entry.state.session_key, setup.uid);
    }
  } catch {
    // Somebody else tidies up at the same time, or nobody may: the next start tries again.
  }
}
