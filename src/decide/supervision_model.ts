/** How a home is supervised, which decides what a healthy moment inside a turn looks like. */

import type { HarnessName } from "../harness/names.ts";

/** What keeps a home supervised. */
export type SupervisionModel =
  /** A hook arms a watcher at each turn's end; during a turn there is none. */
  | "autoarm"
  /** An extension of the harness ends the watcher on each wake and starts the next one itself. */
  | "extension"
  /** The watcher is a process that the session keeps running. */
  | "persistent";

/** The model that `FM_SUPERVISION_MODEL` names; any other text is as good as none. */
export function namedModel(text: string | undefined): SupervisionModel | undefined {
  return text === "autoarm" || text === "extension" || text === "persistent" ? text : undefined;
}

/** The model of a harness. One that is not known has nobody who starts a watcher for it. */
export function modelOf(harness: HarnessName): SupervisionModel {
  switch (harness) {
    case "claude":
    case "cursor":
      return "autoarm";
    case "pi":
    case "pi-signed":
    case "omp":
      return "extension";
    default:
      return "persistent";
  }
}
