/** The watcher and arm scripts that a home may bring itself. */

import { readText } from "../platform/file_text.ts";

/**
 * Path of the home's own script `bin/<name>`, or `undefined` when turnguard is to do its work itself.
 *
 * A script that forwards to turnguard counts as none: it would start a second runtime that does what
 * this one can do.
 */
export function homeScript(
  root: string,
  name: "fm-watch-arm.sh" | "fm-watch.sh",
): string | undefined {
  const path = `${root}/bin/${name}`;
  try {
    const info = Deno.statSync(path);
    if (!info.isFile || ((info.mode ?? 0) & 0o111) === 0) return undefined;
  } catch {
    return undefined;
  }
  const content = readText(path);
  return content.kind === "text" && FORWARDS.test(content.text) ? undefined : path;
}

/** The program's name as the last part of a path; a folder of that name says nothing. */
const FORWARDS = /turnguard(?![\w.-]*\/)/;
