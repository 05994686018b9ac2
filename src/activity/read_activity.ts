/** Reading an activity file as it is now, without its lock. */

import type { ActivityState } from "../decide/activity/activity_state.ts";
import { applyEvent } from "../decide/activity/apply_event.ts";
import { expire } from "../decide/activity/expire.ts";
import type { ExpiryLimits } from "../decide/activity/limits.ts";
import { parseActivity } from "../decide/activity/parse_activity.ts";
import { readSafely } from "./safe_file.ts";
import { spooledEvents } from "./spool.ts";
import { transcriptAt } from "./transcript_at.ts";

/** What an activity file says now. */
export type ActivityReading =
  | {
    readonly kind: "state";
    readonly state: ActivityState;
    /** Milliseconds since the epoch of the file's last change. */
    readonly modifiedMs: number;
    /** Whether the file's time moved without its content: a writer had no room to store more. */
    readonly isDegraded: boolean;
  }
  | { readonly kind: "absent" }
  /** Nothing may be ended because of such a file. */
  | { readonly kind: "untrusted"; readonly because: string };

/** How a reading is made. */
export interface ReadOptions {
  readonly limits: ExpiryLimits;
  /** Seconds since the epoch at which ages are judged; now when absent. */
  readonly now?: number;
}

const TRIES = 3;
const RETRY_MS = 20;

/** Seconds by which a file's time may differ from the one in it. */
const DEGRADED_SLACK = 2;

/**
 * Reads the activity file at `file`: what is in it, then what waits in its spool, then what has
 * expired. A file that is being replaced is tried again. Never throws.
 */
export async function readActivity(
  file: string,
  uid: number,
  options: ReadOptions,
): Promise<ActivityReading> {
  let reading: ActivityReading = { kind: "absent" };
  for (let tried = 0; tried < TRIES; tried++) {
    if (tried > 0) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    reading = readOnce(file, uid, options);
    if (reading.kind === "state") return reading;
  }
  return reading;
}

function readOnce(file: string, uid: number, { limits, now }: ReadOptions): ActivityReading {
  const content = readSafely(file, uid);
  if (content.kind === "absent") return content;
  if (content.kind === "refused") return { kind: "untrusted", because: content.because };
  const parsed = parseActivity(content.text, content.modifiedMs / 1000);
  if (parsed.kind === "newer") {
    return { kind: "untrusted", because: `a later build wrote it (${parsed.schema})` };
  }
  if (parsed.kind === "unparsable") return { kind: "untrusted", because: "it cannot be parsed" };
  const { state } = parsed;
  const written = state.updated_at;
  for (const { name, event } of spooledEvents(file, uid)) {
    if (event !== undefined && !state.applied.includes(name)) applyEvent(state, event);
  }
  expire(state, { now: now ?? Date.now() / 1000, limits, transcriptAt });
  return {
    kind: "state",
    state,
    modifiedMs: content.modifiedMs,
    isDegraded: content.modifiedMs / 1000 > written + DEGRADED_SLACK,
  };
}
