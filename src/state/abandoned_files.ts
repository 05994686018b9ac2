/** What killed processes left in a state directory, and nobody will ever look at again. */

import { ageSeconds } from "../platform/clock.ts";
import { readCapture } from "../platform/file_text.ts";
import { liveness } from "../platform/liveness.ts";
import { ownKind } from "../platform/path_kind.ts";
import { parsePid } from "../platform/pid.ts";
import { removeOwnerDirectory } from "./lock.ts";
import { randomName, removeQuietly } from "./replace_file.ts";

/** Seconds after which no write is still under way. */
const ABANDONED_AFTER_SECONDS = 3_600;

/** Beginning of the name of what a watcher prints to its arm; the arm's pid follows. */
const ARM_OUTPUT_PREFIX = ".watch-arm-output.";
const ARM_OUTPUT = /^\.watch-arm-output\.([0-9]+)\.[A-Za-z0-9]{6}$/;

/** Path of a new file for what a watcher prints; nobody but this process will read it. */
export function armOutputPath(state: string): string {
  return `${state}/${ARM_OUTPUT_PREFIX}${Deno.pid}.${randomName()}`;
}

/** A file that was being written, and the private directory of a lock, as this program names them. */
const TEMPORARY = /^\..+\.tmp\.[A-Za-z0-9]{6}$/;
const OWNER = /^(\..+)\.owner\.[A-Za-z0-9]{6}$/;

/** Removes what certainly is abandoned; everything that is in doubt stays. Never throws. */
export function removeAbandonedFiles(state: string): void {
  for (const name of namesIn(state)) {
    const path = `${state}/${name}`;
    if (TEMPORARY.test(name)) {
      if (ownKind(path) === "file" && isOld(path)) removeQuietly(path);
      continue;
    }
    const arm = ARM_OUTPUT.exec(name)?.[1];
    if (arm !== undefined) {
      if (ownKind(path) === "file" && isDead(arm)) removeQuietly(path);
      continue;
    }
    const lock = OWNER.exec(name)?.[1];
    if (lock !== undefined && isAbandonedOwner(state, lock, name)) removeOwnerDirectory(path);
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return [...Deno.readDirSync(folder)].map((entry) => entry.name);
  } catch {
    return [];
  }
}

function isOld(path: string): boolean {
  return (ageSeconds(path) ?? 0) > ABANDONED_AFTER_SECONDS;
}

/** A directory that no lock points to, of a process that is dead or never came to write its pid. */
function isAbandonedOwner(state: string, lock: string, name: string): boolean {
  const path = `${state}/${name}`;
  if (ownKind(path) !== "directory" || pointsTo(`${state}/${lock}`, name)) return false;
  const recorded = readCapture(`${path}/pid`);
  const pid = recorded.kind === "text" ? parsePid(recorded.text) : undefined;
  return pid === undefined ? isOld(path) : liveness(pid) === "dead";
}

function isDead(recorded: string): boolean {
  const pid = parsePid(recorded);
  return pid !== undefined && liveness(pid) === "dead";
}

function pointsTo(link: string, name: string): boolean {
  try {
    return Deno.readLinkSync(link).endsWith(`/${name}`);
  } catch {
    return false;
  }
}
