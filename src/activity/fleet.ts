/** All sessions that activity is recorded of. */

import { join } from "@std/path";
import type { ActivityState } from "../decide/activity/activity_state.ts";
import { fieldsOf, numberOf, parseJson, textOf } from "../decide/activity/fields.ts";
import type { ExpiryLimits } from "../decide/activity/limits.ts";
import type { Environment } from "../platform/environment.ts";
import { parsePid } from "../platform/pid.ts";
import { ACTIVITY_NAME, activityFolders } from "./activity_paths.ts";
import type { ProcessChain } from "./process_chain.ts";
import { readActivity } from "./read_activity.ts";
import { readSafely } from "./safe_file.ts";
import { isOwnFolder } from "./safe_folder.ts";

/** What a watchdog last wrote about a session. */
export interface Heartbeat {
  readonly pid: number;
  /** Whether that process is there and beats. */
  readonly isLive: boolean;
  readonly state: string;
  readonly killIn: number | undefined;
  readonly idleTimeout: number | undefined;
  readonly holds: readonly string[];
}

/** Whether a session's harness runs. */
export type HarnessLife = "running" | "gone" | "remote" | "unknown";

/** One session. */
export type FleetEntry =
  | {
    readonly kind: "session";
    readonly file: string;
    readonly state: ActivityState;
    readonly modifiedMs: number;
    readonly life: HarnessLife;
    readonly heartbeat: Heartbeat | undefined;
  }
  | { readonly kind: "unreadable"; readonly file: string; readonly because: string };

/** The sessions, and how many files were not believed. */
export interface Fleet {
  readonly entries: readonly FleetEntry[];
  readonly skipped: number;
}

/** What finding them needs. */
export interface FleetQuery {
  readonly environment: Environment;
  readonly uid: number;
  readonly limits: ExpiryLimits;
  readonly chain: ProcessChain;
  /** A further folder. */
  readonly folder: string | undefined;
}

/** Name of the files that the earliest tool of this kind leaves in `/tmp`. */
const PLAIN_NAME = /^bob-session-[^/]*-activity\.json$/;

/** Seconds for which a heartbeat counts at least. */
const HEARTBEAT_SECONDS = 90;

/** Finds all sessions. Never throws. */
export async function findFleet(query: FleetQuery): Promise<Fleet> {
  const files = filesOf(query);
  const entries: FleetEntry[] = [];
  let skipped = 0;
  for (const file of files) {
    const entry = await fleetEntry(file, query);
    if (entry === undefined) continue;
    if (entry.kind === "unreadable" && entry.because !== "it cannot be parsed") skipped += 1;
    else entries.push(entry);
  }
  return { entries, skipped };
}

/** One file as an entry; `undefined` when there is none. */
export async function fleetEntry(
  file: string,
  { uid, limits, chain }: Omit<FleetQuery, "folder">,
): Promise<FleetEntry | undefined> {
  const reading = await readActivity(file, uid, { limits });
  if (reading.kind === "absent") return undefined;
  if (reading.kind === "untrusted") {
    return { kind: "unreadable", file, because: reading.because };
  }
  const { state, modifiedMs } = reading;
  return {
    kind: "session",
    file,
    state,
    modifiedMs,
    life: await lifeOf(state, chain),
    heartbeat: await heartbeatOf(file, uid, chain),
  };
}

function filesOf({ environment, uid, folder }: FleetQuery): readonly string[] {
  const own = activityFolders(environment, uid).map(({ file }) => file);
  const folders = [...new Set(folder === undefined ? own : [...own, folder])];
  const found = folders.filter((path) => isOwnFolder(path, uid))
    .flatMap((path) => namesIn(path, ACTIVITY_NAME));
  return [...found, ...namesIn("/tmp", PLAIN_NAME)];
}

function namesIn(folder: string, pattern: RegExp): readonly string[] {
  try {
    return Array.from(Deno.readDirSync(folder), ({ name }) => name)
      .filter((name) => pattern.test(name)).map((name) => join(folder, name));
  } catch {
    return [];
  }
}

async function lifeOf({ process }: ActivityState, chain: ProcessChain): Promise<HarnessLife> {
  if (process === null) return "unknown";
  // Reading any process tells what machine this is.
  const pid = parsePid(String(process.pid));
  const link = pid === undefined ? undefined : await chain.link(pid);
  if (link === undefined) await chain.link(parsePid(String(Deno.pid)) ?? failNoPid());
  const { bootId, hostname } = chain.marks;
  const isElsewhere = (process.hostname !== null && hostname !== null &&
    process.hostname !== hostname) ||
    (process.bootId !== null && bootId !== null && process.bootId !== bootId);
  if (isElsewhere) return "remote";
  if (link === undefined) return "gone";
  return link.identity === process.identity && !link.ended ? "running" : "gone";
}

async function heartbeatOf(
  file: string,
  uid: number,
  chain: ProcessChain,
): Promise<Heartbeat | undefined> {
  const content = readSafely(`${file}.watchdog.json`, uid);
  if (content.kind !== "text") return undefined;
  const beat = fieldsOf(parseJson(content.text));
  const pid = parsePid(String(numberOf(beat["pid"]) ?? ""));
  if (pid === undefined) return undefined;
  const fresh = Math.max(HEARTBEAT_SECONDS, 3 * (numberOf(beat["poll_s"]) ?? 0));
  const age = Date.now() / 1000 - (numberOf(beat["heartbeat_at"]) ?? 0);
  const link = await chain.link(pid);
  const isIt = link !== undefined && !link.ended && link.identity === textOf(beat["pid_identity"]);
  const holds: unknown = beat["holds"];
  const items: readonly unknown[] = Array.isArray(holds) ? holds : [];
  return {
    pid,
    isLive: isIt && age <= fresh,
    state: textOf(beat["state"]) ?? "unknown",
    killIn: numberOf(beat["kill_in_s"]),
    idleTimeout: numberOf(beat["idle_timeout_s"]),
    holds: items.flatMap((hold) => textOf(fieldsOf(hold)["name"]) ?? []),
  };
}

function failNoPid(): never {
  throw new Error("this process has no process id");
}
