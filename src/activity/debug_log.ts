/** A line an event, for whoever wonders why an event is not where it should be. */

import { join } from "@std/path";
import type { Environment } from "../platform/environment.ts";
import { activityFolders } from "./activity_paths.ts";
import { ownUid } from "./own_uid.ts";
import { whyNot } from "./safe_file.ts";
import { isOwnFolder } from "./safe_folder.ts";

const NAME = "activity-debug.log";
const LIMIT_BYTES = 1024 * 1024;

/** Appends to the log beside the activity files, which is rotated once. Never throws. */
export function appendDebugLine(environment: Environment, text: string): void {
  const uid = ownUid();
  if (uid === undefined) return;
  const folder = activityFolders(environment, uid).find(({ file }) => isOwnFolder(file, uid));
  if (folder === undefined) return;
  const path = join(folder.file, NAME);
  try {
    const info = existing(path);
    if (info !== undefined && whyNot(info, uid, Infinity) !== undefined) return;
    if (info !== undefined && info.size > LIMIT_BYTES) Deno.renameSync(path, `${path}.1`);
    const file = Deno.openSync(path, { append: true, create: true, mode: 0o600 });
    using _file = file;
    file.writeSync(new TextEncoder().encode(`${new Date().toISOString()} ${text}\n`));
  } catch {
    // A log is no reason to fail.
  }
}

function existing(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.lstatSync(path);
  } catch {
    return undefined;
  }
}
