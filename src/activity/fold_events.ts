/** Taking events into an activity file, by whoever holds its lock. */

import { dirname } from "@std/path";
import type { ActivityEvent } from "../decide/activity/activity_event.ts";
import { type ActivityState, count, emptyActivity } from "../decide/activity/activity_state.ts";
import { applyEvent } from "../decide/activity/apply_event.ts";
import { expire } from "../decide/activity/expire.ts";
import { formatActivity } from "../decide/activity/format_activity.ts";
import type { ExpiryLimits } from "../decide/activity/limits.ts";
import { parseActivity } from "../decide/activity/parse_activity.ts";
import { putFile } from "./put_file.ts";
import { readSafely } from "./safe_file.ts";
import { makeSpool, removeLeftOvers, removeSpooled, spooledEvents, spoolPath } from "./spool.ts";
import { transcriptAt } from "./transcript_at.ts";

/** How taking in ended. */
export type FoldOutcome =
  | "written"
  /** The file does not say yet which process the session runs in. */
  | "written without process"
  | "newer"
  | "unusable";

/** A file that could not be parsed is set aside; this many such files are kept. */
const CORRUPT_LIMIT = 3;

/**
 * Takes the spooled events and then `own` into the file.
 *
 * The names of the events that are in the file are written with it: whoever finds their files there
 * all the same, since this process was killed before it removed them, does not apply them again.
 * Throws what the system reports when the file cannot be written; it is unchanged then.
 */
export function foldEvents(
  file: string,
  uid: number,
  limits: ExpiryLimits,
  own: ActivityEvent | undefined,
): FoldOutcome {
  const content = readSafely(file, uid);
  if (content.kind === "refused") return "unusable";
  const modifiedAt = content.kind === "text" ? content.modifiedMs / 1000 : 0;
  const parsed = content.kind === "text" ? parseActivity(content.text, modifiedAt) : undefined;
  if (parsed?.kind === "newer") return "newer";
  const state = parsed?.kind === "state" ? parsed.state : emptyActivity();
  if (parsed?.kind === "unparsable") {
    setAside(file);
    count(state, "recovered");
  }
  const spooled = spooledEvents(file, uid);
  const fresh = spooled.filter(({ name }) => !state.applied.includes(name));
  for (const { event } of fresh) {
    if (event === undefined) count(state, "dropped");
    else applyEvent(state, event);
  }
  if (fresh.length > 0) {
    count(state, "spooled", fresh.length);
    count(state, "folded");
  }
  if (own !== undefined) applyEvent(state, own);
  state.applied = spooled.map(({ name }) => name);
  state.generation += 1;
  if (state.generation === 1) makeSpool(file, uid);
  settle(state, limits);
  putFile(file, formatActivity(state));
  removeSpooled(file, state.applied);
  if (state.generation % LEFT_OVER_EVERY === 1) {
    removeLeftOvers(dirname(file), uid);
    removeLeftOvers(spoolPath(file), uid);
  }
  return state.process === null ? "written without process" : "written";
}

/** Writes between two looks for what killed writers left. */
const LEFT_OVER_EVERY = 64;

function settle(state: ActivityState, limits: ExpiryLimits): void {
  const now = Date.now() / 1000;
  state.updated_at = now;
  expire(state, { now, limits, transcriptAt });
}

function setAside(file: string): void {
  const folder = dirname(file);
  const prefix = `${file.slice(folder.length + 1)}.corrupt-`;
  const kept = Array.from(Deno.readDirSync(folder), ({ name }) => name)
    .filter((name) => name.startsWith(prefix)).toSorted();
  for (const name of kept.slice(0, Math.max(0, kept.length - CORRUPT_LIMIT + 1))) {
    Deno.removeSync(`${folder}/${name}`);
  }
  Deno.renameSync(file, `${file}.corrupt-${Math.floor(Date.now() / 1000)}`);
}
