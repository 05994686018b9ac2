/** What in a state directory asks for supervision. */

import type { NeedFact } from "../decide/facts.ts";
import { errorMessage } from "../platform/file_text.ts";
import { targetKind } from "../platform/path_kind.ts";

const CHECK_SUFFIX = ".check.sh";

/** The relay's poll script has the name of a check but is counted on its own. */
const RELAY_CHECK = `x-watch${CHECK_SUFFIX}`;

/**
 * Counts the four kinds of need. Contents are not read: a record that is there is work in flight.
 *
 * As in a shell's pattern, names that start with a dot and links that lead nowhere do not count.
 */
export function observeNeed(state: string): NeedFact {
  try {
    const entries = [...Deno.readDirSync(state)].filter((entry) => !entry.name.startsWith("."));
    const names = new Set(entries.map((entry) => entry.name));
    return {
      kind: "counted",
      tasks: countEnding(state, entries, ".meta"),
      sources: countSources(`${state}/procevent`),
      checks: entries.filter((entry) => isRegisteredCheck(state, names, entry)).length,
      relay: names.has(RELAY_CHECK) && targetKind(`${state}/${RELAY_CHECK}`) === "file",
    };
  } catch (error) {
    return {
      kind: "unknown",
      because: `the state directory cannot be listed: ${errorMessage(error)}`,
    };
  }
}

function countSources(folder: string): number {
  try {
    const entries = [...Deno.readDirSync(folder)].filter((entry) => !entry.name.startsWith("."));
    return countEnding(folder, entries, ".source");
  } catch {
    return 0;
  }
}

function countEnding(folder: string, entries: readonly Deno.DirEntry[], suffix: string): number {
  return entries.filter((entry) => entry.name.endsWith(suffix) && leadsSomewhere(folder, entry))
    .length;
}

/** The trust file's hash is not verified here: an edited check still has to be watched. */
function isRegisteredCheck(
  state: string,
  names: ReadonlySet<string>,
  entry: Deno.DirEntry,
): boolean {
  if (!entry.name.endsWith(CHECK_SUFFIX) || entry.name === RELAY_CHECK) return false;
  const trust = `${entry.name.slice(0, -CHECK_SUFFIX.length)}.check-trust`;
  return names.has(trust) && leadsSomewhere(state, entry) &&
    targetKind(`${state}/${trust}`) !== "absent";
}

function leadsSomewhere(folder: string, entry: Deno.DirEntry): boolean {
  return !entry.isSymlink || targetKind(`${folder}/${entry.name}`) !== "absent";
}
