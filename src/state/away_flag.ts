/** `.afk`: whether away or quiet mode is on. */

import { nowSeconds } from "../platform/clock.ts";
import { ownKind } from "../platform/path_kind.ts";
import { lockWithin } from "./lock.ts";
import { removeQuietly, replaceFile } from "./replace_file.ts";

/** Name of the flag. */
export const AWAY_FLAG_NAME = ".afk";

/** A Cursor park checks the flag under this lock, so that it never parks into a mode that begins. */
const LOCK_NAME = ".cursor-park-owner.lock";

/** Milliseconds that a change of the flag waits for the lock. */
const LOCK_LIMIT_MS = 5_000;

/** Turns the mode on, or changes it; `failed` when the flag could not be written. */
export async function writeAwayFlag(
  state: string,
  mode: "away" | "quiet",
): Promise<"written" | "failed"> {
  try {
    const attempt = await lockWithin(`${state}/${LOCK_NAME}`, LOCK_LIMIT_MS);
    if (attempt.kind === "refused") return "failed";
    using _held = attempt.lock;
    const path = `${state}/${AWAY_FLAG_NAME}`;
    if (ownKind(path) === "directory") return "failed";
    replaceFile(path, `${mode}\n${nowSeconds()}\n`);
    return "written";
  } catch {
    return "failed";
  }
}

/** Turns the mode off; whether it is off now. */
export function removeAwayFlag(state: string): boolean {
  const path = `${state}/${AWAY_FLAG_NAME}`;
  removeQuietly(path);
  return ownKind(path) === "absent";
}
