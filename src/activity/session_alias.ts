/** From the session of a child to the file of its parent. */

import { basename, dirname, join } from "@std/path";
import { ACTIVITY_NAME, aliasName } from "./activity_paths.ts";
import { putFile } from "./put_file.ts";
import { readSafely } from "./safe_file.ts";

/** The file of the parent of the session with that hash, when it is known and there. */
export function aliasTarget(folder: string, hash: string, uid: number): string | undefined {
  const content = readSafely(join(folder, aliasName(hash)), uid);
  if (content.kind !== "text") return undefined;
  const name = content.text.trimEnd();
  if (!ACTIVITY_NAME.test(name)) return undefined;
  const target = join(folder, name);
  try {
    return Deno.lstatSync(target).isFile ? target : undefined;
  } catch {
    return undefined;
  }
}

/** Records that the child with that hash belongs to `file`. Never throws. */
export function writeAlias(file: string, hash: string): void {
  try {
    putFile(join(dirname(file), aliasName(hash)), `${basename(file)}\n`);
  } catch {
    // Without it the child's events are filed under its own session.
  }
}
