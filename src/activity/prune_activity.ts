/** Removing the files of sessions that are long over. */

import { dirname, join } from "@std/path";
import { tryActivityLock } from "./activity_lock.ts";
import { aliasName } from "./activity_paths.ts";
import type { FleetEntry } from "./fleet.ts";

/** Seconds after which an ended or dead session's file goes, and any. */
const OVER_SECONDS = 24 * 3_600;
const OLD_SECONDS = 7 * 24 * 3_600;

/** Whether the files of a session may go. */
export function isPrunable(entry: FleetEntry, now: number): boolean {
  if (entry.kind !== "session" || entry.heartbeat?.isLive === true) return false;
  const { state, life } = entry;
  const age = now - state.updated_at;
  if (state.ended_at !== null) return now - state.ended_at > OVER_SECONDS;
  return (life === "gone" && age > OVER_SECONDS) || age > OLD_SECONDS;
}

/** Removes a session's file and its companions; `false` when somebody writes to it. */
export function pruneSession(file: string, sessionKey: string, uid: number): boolean {
  const tried = tryActivityLock(file, uid);
  if (tried.kind !== "held") return false;
  try {
    const companions = ["", ".watchdog.json", ".marker.json"].map((suffix) => `${file}${suffix}`);
    for (const path of [...companions, ...setAside(file)]) remove(path);
    remove(`${file}.spool`, true);
    remove(join(dirname(file), aliasName(sessionKey)));
    // Last: whoever waits at it notices that it is gone.
    remove(`${file}.lock`);
    return true;
  } finally {
    tried.lock[Symbol.dispose]();
  }
}

function setAside(file: string): readonly string[] {
  const folder = dirname(file);
  const prefix = `${file.slice(folder.length + 1)}.corrupt-`;
  return Array.from(Deno.readDirSync(folder), ({ name }) => name)
    .filter((name) => name.startsWith(prefix)).map((name) => join(folder, name));
}

function remove(path: string, recursive = false): void {
  try {
    Deno.removeSync(path, { recursive });
  } catch {
    // It is not there, or not ours to remove.
  }
}
