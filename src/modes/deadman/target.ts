/** Which deadman a call means: its home, and its record outside of it. */

import { dirname, isAbsolute } from "@std/path";
import type { Home } from "../../observe/home.ts";
import { homeId, recordPath } from "../../watch/deadman/record.ts";
import { personHome } from "../call_home.ts";
import type { Call, ExitStatus } from "../mode.ts";
import { complain } from "../person_output.ts";
import { rootOf } from "../registered_paths.ts";

/** One deadman, installed or not. */
export interface Target {
  readonly home: Home;
  readonly root: string;
  /** See `homeId`. */
  readonly id: string;
  readonly recordPath: string;
  /** The user's own folder, from which schedulers read their files. */
  readonly userFolder: string;
}

/** The deadman of the home that `call` means; `undefined` when there is no place for its record. */
export async function targetOf(call: Call): Promise<Target | undefined> {
  const root = rootOf(call);
  const home = personHome({ ...call, flags: new Map([["root", root]]) });
  const id = await homeId(home.home);
  const path = recordPath(call.environment, id);
  const userFolder = call.environment.get("HOME");
  if (path === undefined || userFolder === undefined || !isAbsolute(userFolder)) return undefined;
  return { home, root, id, recordPath: path, userFolder };
}

/** The complaint where {@link targetOf} finds nothing. */
export async function complainOfNoPlace(): Promise<ExitStatus> {
  return await complain({
    mode: "deadman",
    wrong: "HOME names no absolute folder, so there is no place for its record",
    untouched: "nothing was changed",
    todo: "set HOME, then do it again",
  });
}

/** Whether `path` lies in `folder`, once every link on the way is followed. */
export function liesIn(path: string, folder: string): boolean {
  const inside = (one: string, other: string) => one === other || one.startsWith(`${other}/`);
  return inside(path, folder) || inside(physical(path), physical(folder));
}

/** The path with the links of its longest part that exists followed. */
function physical(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : `${physical(folder)}${path.slice(folder.length)}`;
  }
}
