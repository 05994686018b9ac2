/** Checks whose watcher was killed while they ran: their processes and their copies. */

import { ageSeconds } from "../../platform/clock.ts";
import { liveness } from "../../platform/liveness.ts";
import { parsePid, type Pid } from "../../platform/pid.ts";
import { endGroup } from "../../platform/process_group.ts";
import { pidsNaming } from "../../platform/processes_naming.ts";
import { randomName, removeQuietly } from "../../state/replace_file.ts";

/** Start of the name of a copy that is being run. */
const COPY_PREFIX = ".fm-custom-check.";

/** Name for a new copy; it tells who runs it. */
export function copyName(): string {
  return `${COPY_PREFIX}${Deno.pid}-${randomName()}`;
}

/** Seconds after which a copy is abandoned whoever made it: no check runs that long. */
const ABANDONED_AFTER_SECONDS = 3_600;

/**
 * Ends what is left of checks that nobody waits for any more, and removes their copies.
 *
 * A process is known by the copy that it runs: no other one has that random name in its command line.
 */
export async function endAbandonedChecks(state: string): Promise<void> {
  for (const { name } of Deno.readDirSync(state)) {
    if (!isAbandoned(state, name)) continue;
    for (const pid of await pidsNaming(`${state}/${name}`)) await endGroup(pid);
    removeQuietly(`${state}/${name}`);
  }
}

function isAbandoned(state: string, name: string): boolean {
  if (!name.startsWith(COPY_PREFIX)) return false;
  const starter = starterOf(name);
  return (starter !== undefined && liveness(starter) === "dead") ||
    (ageSeconds(`${state}/${name}`) ?? 0) > ABANDONED_AFTER_SECONDS;
}

function starterOf(name: string): Pid | undefined {
  return parsePid(/^([0-9]+)-/.exec(name.slice(COPY_PREFIX.length))?.[1] ?? "");
}
