/** The executable that a registration names: the path that stays right after an upgrade. */

import { isAbsolute, join, resolve } from "@std/path";
import { targetKind } from "../../platform/path_kind.ts";
import { mistakablePart } from "./mistakable_name.ts";

/** What the executable is looked for with. */
export interface ExecutableQuery {
  /** The path that a person gave, if any. */
  readonly given: string | undefined;
  /** The name under which this process was started. */
  readonly startedAs: string;
  /** The file that this process runs, links resolved. */
  readonly running: string;
  /** The value of `PATH`. */
  readonly searchPath: string | undefined;
  /** The folder that relative names start from. */
  readonly workingDirectory: string;
}

/** An absolute path, or why there is none, as a sentence that begins with the path. */
export type FoundExecutable =
  | { readonly kind: "found"; readonly path: string }
  | { readonly kind: "refused"; readonly path: string; readonly because: string };

/**
 * The path that a registration should name.
 *
 * That is the name under which the executable was started, made absolute with its links kept: a link
 * survives upgrades, and the file behind it often carries a version. Refuses a path that is not an
 * executable file, and one that looks like a harness in a process list.
 */
export function findExecutable(query: ExecutableQuery): FoundExecutable {
  const path = query.given === undefined
    ? startedPath(query)
    : resolve(query.workingDirectory, query.given);
  if (!isExecutableFile(path)) {
    const because = targetKind(path) === "absent" ? "does not exist" : "is not an executable file";
    return { kind: "refused", path, because };
  }
  const part = mistakablePart(path);
  if (part === undefined) return { kind: "found", path };
  return { kind: "refused", path, because: `looks like a harness in process lists: ${part}` };
}

function startedPath(query: ExecutableQuery): string {
  const { startedAs, workingDirectory } = query;
  const candidates = startedAs.includes("/")
    ? [resolve(workingDirectory, startedAs)]
    : onSearchPath(query);
  return candidates.find(isExecutableFile) ?? query.running;
}

/** Where `PATH` may have found the name. Relative folders in it mean another place in each session. */
function onSearchPath({ startedAs, searchPath = "" }: ExecutableQuery): string[] {
  return searchPath.split(":").filter(isAbsolute).map((folder) => join(folder, startedAs));
}

function isExecutableFile(path: string): boolean {
  if (targetKind(path) !== "file") return false;
  try {
    // File systems without modes report none; there every file can be started.
    return ((Deno.statSync(path).mode ?? 0o111) & 0o111) !== 0;
  } catch {
    return false;
  }
}
