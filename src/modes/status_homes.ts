/** Which homes `status --all` speaks of. */

import { resolve } from "@std/path";
import { readText } from "../platform/file_text.ts";
import type { Environment } from "../platform/environment.ts";

/** The homes, or where none were found. */
export type Homes =
  | { readonly kind: "named"; readonly roots: readonly string[] }
  | { readonly kind: "none"; readonly file: string | undefined };

/** Named on the command line, else by `TURNGUARD_HOMES`, else by a file of the operator's. */
export function homesToShow(operands: readonly string[], environment: Environment): Homes {
  const listed = environment.get("TURNGUARD_HOMES")?.split(":").filter((path) => path !== "");
  const file = listFile(environment);
  const roots = operands.length > 0 ? operands : listed ?? (file === undefined ? [] : inFile(file));
  if (roots.length === 0) return { kind: "none", file };
  return { kind: "named", roots: [...new Set(roots.map((root) => resolve(root)))] };
}

function listFile(environment: Environment): string | undefined {
  const home = environment.get("HOME");
  const config = environment.get("XDG_CONFIG_HOME") ??
    (home === undefined ? undefined : `${home}/.config`);
  return config === undefined ? undefined : `${config}/turnguard/homes`;
}

/** One path a line; comments start with `#`. */
function inFile(path: string): readonly string[] {
  const content = readText(path);
  if (content.kind !== "text") return [];
  return content.text.split("\n").map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
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
