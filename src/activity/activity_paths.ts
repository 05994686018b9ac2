/** Names and places of activity files. */

import { join } from "@std/path";
import type { Environment } from "../platform/environment.ts";

/** Where an activity file may be, in the order in which the places are tried. */
export interface ActivityPlace {
  /** Full path of the activity file. */
  readonly file: string;
  /** `explicit`: somebody named the file itself. `temporary`: below the machine's `/tmp`. */
  readonly kind: "explicit" | "own" | "temporary";
}

/** Names of activity files that belong to sessions and runs. */
export const ACTIVITY_NAME = /^turnguard-(?:session|run)-[0-9a-f]{16}-activity\.json$/;

/** The SHA-256 of a text, as hex digits. */
export async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return new Uint8Array(digest).toHex();
}

/** The digits of a session id that name its file; the id itself never is part of a path. */
export async function sessionHash(sessionId: string): Promise<string> {
  return (await sha256(sessionId)).slice(0, 16);
}

/** Name of a session's activity file. */
export function sessionFileName(hash: string): string {
  return `turnguard-session-${hash}-activity.json`;
}

/** Name of a run's activity file. */
export function runFileName(run: string): string {
  return `turnguard-run-${run}-activity.json`;
}

/** Name of the file that leads from a child's session to its parent's. */
export function aliasName(hash: string): string {
  return `turnguard-alias-${hash}`;
}

/**
 * Folders for activity files, the first choice first.
 *
 * The runtime directory of a login is none of them: services, cron and terminal multiplexers see
 * another one than the session does.
 */
export function activityFolders(
  environment: Environment,
  uid: number | undefined,
): readonly Pick<ActivityPlace, "file" | "kind">[] {
  const named = environment.get("TURNGUARD_ACTIVITY_DIR");
  const xdg = environment.get("XDG_STATE_HOME");
  const home = environment.get("HOME");
  const own = xdg?.startsWith("/") === true
    ? xdg
    : home?.startsWith("/") === true
    ? join(home, ".local", "state")
    : undefined;
  const places: ActivityPlace[] = [];
  if (named?.startsWith("/") === true) places.push({ file: named, kind: "own" });
  if (own !== undefined) places.push({ file: join(own, "turnguard", "activity"), kind: "own" });
  if (uid !== undefined) {
    places.push({ file: `/tmp/turnguard-${uid}/activity`, kind: "temporary" });
  }
  return places;
}
