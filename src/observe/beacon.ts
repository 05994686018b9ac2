/** The watcher's beacon: a file of which only the modification time matters. */

import type { BeaconFact } from "../decide/facts.ts";
import { ageSeconds } from "../platform/clock.ts";
import { targetKind } from "../platform/path_kind.ts";

/** Name of the beacon in a state directory. */
export const BEACON_NAME = ".last-watcher-beat";

/** Observes the beacon of a state directory. A dangling link never beat. */
export function observeBeacon(state: string): BeaconFact {
  const path = `${state}/${BEACON_NAME}`;
  if (targetKind(path) === "absent") return { kind: "never" };
  const age = ageSeconds(path);
  return age === undefined ? { kind: "unreadable" } : { kind: "beat", ageSeconds: age };
}
