/** Which homes `status --all` speaks of. */

import { isAbsolute, resolve } from "@std/path";
import { logicalWorkingDirectory } from "../observe/home.ts";
import type { Environment } from "../platform/environment.ts";
import { readText } from "../platform/file_text.ts";

/** The homes, or why there are none. */
export type Homes =
  | { readonly kind: "named"; readonly roots: readonly string[] }
  | { readonly kind: "none"; readonly because: string };

/** Variable with the homes, separated by colons. */
const VARIABLE = "TURNGUARD_HOMES";

/**
 * Named on the command line, else by `TURNGUARD_HOMES`, else by a file of the operator's.
 *
 * Throws when a relative path is given and the working directory has been removed.
 */
export function homesToShow(words: readonly string[], environment: Environment): Homes {
  const found = words.length > 0 ? named(words) : ofVariable(environment) ?? ofFile(environment);
  if (found.kind === "none") return found;
  const full = (root: string): string =>
    isAbsolute(root) ? resolve(root) : resolve(logicalWorkingDirectory(environment), root);
  return named([...new Set(found.roots.map(full))]);
}

function named(roots: readonly string[]): Homes {
  return { kind: "named", roots };
}

function ofVariable(environment: Environment): Homes | undefined {
  const text = environment.get(VARIABLE);
  if (text === undefined) return undefined;
  const roots = text.split(":").filter((path) => path !== "");
  return roots.length > 0 ? named(roots) : { kind: "none", because: `${VARIABLE} names no home` };
}

/** One path a line; comments start with `#`. */
function ofFile(environment: Environment): Homes {
  const file = listFile(environment);
  if (file === undefined) {
    return { kind: "none", because: "no HOME says where the list of homes is" };
  }
  const content = readText(file);
  if (content.kind === "absent") return { kind: "none", because: `there is no list ${file}` };
  if (content.kind === "unreadable") {
    return { kind: "none", because: `the list ${file} cannot be read: ${content.because}` };
  }
  const roots = content.text.split("\n").map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  return roots.length > 0 ? named(roots) : { kind: "none", because: `the list ${file} is empty` };
}

function listFile(environment: Environment): string | undefined {
  const home = environment.get("HOME");
  const config = environment.get("XDG_CONFIG_HOME") ??
    (home === undefined ? undefined : `${home}/.config`);
  return config === undefined ? undefined : `${config}/turnguard/homes`;
}

/** Variables by which one home is named; they say nothing about the others. */
const OF_ONE_HOME: readonly string[] = [
  "FM_HOME",
  "FM_ROOT_OVERRIDE",
  "FM_STATE_OVERRIDE",
  "FM_CONFIG_OVERRIDE",
  "FM_WAKE_QUEUE",
  "FM_WAKE_QUEUE_LOCK",
  "TURNGUARD_WATCH_PATH",
];

/** The environment without what names one home. */
export function withoutHome(environment: Environment): Environment {
  return { get: (name) => OF_ONE_HOME.includes(name) ? undefined : environment.get(name) };
}
