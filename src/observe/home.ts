/** Which home an invocation belongs to: root, home, state, configuration, watcher path. */

import { dirname, isAbsolute, join, resolve } from "@std/path";
import type { Environment } from "../platform/environment.ts";
import { targetKind } from "../platform/path_kind.ts";

/** The folders of one home. All are used as given: links are kept, nothing is normalised. */
export interface Home {
  /** Tree that carries `AGENTS.md`, `bin/` and the Git directory. */
  readonly root: string;
  /** Operational home; compared byte for byte with what a watcher recorded. */
  readonly home: string;
  readonly state: string;
  readonly config: string;
  /** `<root>/bin/fm-watch.sh` as text; it need not exist, it is the watcher's name in its lock. */
  readonly watcherPath: string;
  /** What decided the root, for people. */
  readonly foundBy: RootSource;
}

/** What decided the root of a home. */
export type RootSource =
  | "--root"
  | "FM_ROOT_OVERRIDE"
  | "the executable's own bin/ folder"
  | "CLAUDE_PROJECT_DIR"
  | "CURSOR_PROJECT_DIR"
  | "GROK_WORKSPACE_ROOT"
  | "the working directory"
  | "a folder above the working directory"
  | "FM_HOME"
  | "no home was found";

/** What a home is looked for with. */
export interface HomeQuery {
  readonly environment: Environment;
  /** `--root`, as the person or the registration gave it. */
  readonly root: string | undefined;
  /** The name under which the executable was started. */
  readonly startedAs: string;
  /** Asked only when nothing else names the home. */
  readonly workingDirectory: () => string;
  /**
   * Whether folders above the working directory are asked too. A person standing in a sub-folder
   * means their home; a hook there may belong to another project, so hooks never look upwards.
   */
  readonly lookUpwards: boolean;
}

/** Variables by which hosts name the project of a hook. */
const PROJECT_VARIABLES = [
  "CLAUDE_PROJECT_DIR",
  "CURSOR_PROJECT_DIR",
  "GROK_WORKSPACE_ROOT",
] as const;

/**
 * Finds the home of an invocation. The first source that names one wins; sources that only suggest
 * a folder count when it has the shape of a root (`AGENTS.md` and `bin/`).
 */
export function findHome(query: HomeQuery): Home {
  const { environment } = query;
  const entry = entryRoot(query);
  const override = environment.get("FM_ROOT_OVERRIDE");
  const root = override ?? entry.path;
  const home = environment.get("FM_HOME") ?? root;
  return {
    root,
    home,
    state: environment.get("FM_STATE_OVERRIDE") ?? `${home}/state`,
    config: environment.get("FM_CONFIG_OVERRIDE") ?? `${home}/config`,
    watcherPath: environment.get("TURNGUARD_WATCH_PATH") ??
      `${watcherTree(entry, override)}/bin/fm-watch.sh`,
    foundBy: override === undefined || entry.foundBy === "--root"
      ? entry.foundBy
      : "FM_ROOT_OVERRIDE",
  };
}

interface EntryRoot {
  readonly path: string;
  readonly foundBy: RootSource;
}

/**
 * The tree whose `bin/` the watcher is recorded under.
 *
 * `--root` names the physical tree of the entry point and keeps that role under an override. Without
 * it an override is used, unless the executable stands beside a watcher script, which then recorded
 * its own folder.
 */
function watcherTree(entry: EntryRoot, override: string | undefined): string {
  if (override === undefined || entry.foundBy === "--root") return entry.path;
  const besideScript = entry.foundBy === "the executable's own bin/ folder" &&
    targetKind(`${entry.path}/bin/fm-watch.sh`) === "file";
  return besideScript ? entry.path : override;
}

function entryRoot(query: HomeQuery): EntryRoot {
  if (query.root !== undefined) {
    const path = isAbsolute(query.root)
      ? query.root
      : resolve(query.workingDirectory(), query.root);
    return { path, foundBy: "--root" };
  }
  for (const suggestion of suggestions(query)) {
    if (hasHomeShape(suggestion.path)) return suggestion;
  }
  return { path: query.workingDirectory(), foundBy: "no home was found" };
}

function* suggestions(query: HomeQuery): Generator<EntryRoot> {
  const { environment, startedAs } = query;
  const workingDirectory = query.workingDirectory();
  if (startedAs.includes("/")) {
    const folder = dirname(resolve(workingDirectory, startedAs));
    if (folder.endsWith("/bin")) {
      yield { path: dirname(folder), foundBy: "the executable's own bin/ folder" };
    }
  }
  for (const name of PROJECT_VARIABLES) {
    const path = environment.get(name);
    if (path !== undefined) yield { path: path.replace(/(?<=.)\/$/, ""), foundBy: name };
  }
  yield { path: workingDirectory, foundBy: "the working directory" };
  if (query.lookUpwards) {
    for (let path = workingDirectory; path !== dirname(path);) {
      path = dirname(path);
      yield { path, foundBy: "a folder above the working directory" };
    }
  }
  const home = environment.get("FM_HOME");
  if (home !== undefined) yield { path: home, foundBy: "FM_HOME" };
}

/** Whether `path` looks like the root of a home. */
export function hasHomeShape(path: string): boolean {
  return targetKind(join(path, "AGENTS.md")) === "file" &&
    targetKind(join(path, "bin")) === "directory";
}

/**
 * The working directory with its links kept, as a shell's `pwd` shows it.
 *
 * `PWD` is what whoever started this program last said, and it may have moved on since: it is believed
 * only when it is a plain absolute path and still names the very folder. Throws when the working
 * directory has been removed.
 */
export function logicalWorkingDirectory(environment: Environment): string {
  const physical = Deno.cwd();
  const logical = environment.get("PWD");
  return logical !== undefined && isPlainAbsolute(logical) && isSameFolder(logical, physical)
    ? logical
    : physical;
}

/** Steps like `..` would mean another folder once a link before them is kept as text. */
function isPlainAbsolute(path: string): boolean {
  return isAbsolute(path) && !path.split("/").some((part) => part === "." || part === "..");
}

function isSameFolder(one: string, other: string): boolean {
  try {
    const [a, b] = [Deno.statSync(one), Deno.statSync(other)];
    return a.ino !== null && a.ino === b.ino && a.dev === b.dev;
  } catch {
    return false;
  }
}
