/** The lines of an arm, to the letter: scripts and extensions read them. */

import type { HealthyWatcher } from "../decide/attached_watcher.ts";

/** Nothing could be confirmed in time. */
export const NO_WATCHER = "watcher: FAILED - no live watcher with a fresh beacon";

/** A watch ended well, but told nothing. */
export const NO_REASON = "watcher: FAILED - cycle ended without an actionable reason";

/** An arm's own watcher runs; `generation` names the open stretch of downtime that it continues. */
export function startedLine(pid: number, generation?: string): string {
  const recovery = generation === undefined ? "" : ` recovery-generation=${generation}`;
  return `watcher: started pid=${pid} (beacon fresh)${recovery}`;
}

/** Somebody else's watcher is followed. */
export function attachedLine({ pid, ageSeconds }: HealthyWatcher): string {
  return `watcher: attached pid=${pid} (beacon ${ageSeconds}s)`;
}

/** The followed watcher is stuck. */
export function stalledLine(pid: number, ageSeconds: number, boundSeconds: number): string {
  return `watcher: FAILED - attached watcher pid=${pid} stalled ` +
    `(beacon ${ageSeconds}s at or past hard bound ${boundSeconds}s)`;
}

/** A watcher failed and has not said so itself. */
export function exitedLine(status: number): string {
  return `watcher: FAILED - watcher cycle exited ${status} without an actionable reason`;
}

/** A confirmed successor cannot tell what it continues. */
export const NO_HANDLING =
  "watcher: FAILED - established successor could not inspect handling state";
