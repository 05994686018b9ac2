/** How long a beat stays fresh, for each of the two proofs of supervision. */

import { type NumberSetting, numberSetting } from "./number.ts";

/** The variables that set a grace, as text. */
export interface GraceVariables {
  readonly FM_GUARD_GRACE: string | undefined;
  readonly FM_POLL: string | undefined;
}

/** Seconds of grace when nothing is set. */
export const DEFAULT_GRACE_SECONDS = 300;

/** Seconds between watcher cycles when nothing is set. */
export const DEFAULT_POLL_SECONDS = 15;

/** Seconds that a cycle may take beyond its poll before it counts as late. */
const POLL_MARGIN_SECONDS = 60;

/** Grace of the strict watcher check: flat, whatever the poll is. */
export function flatGrace(variables: GraceVariables): NumberSetting {
  return numberSetting(variables.FM_GUARD_GRACE, "integer", DEFAULT_GRACE_SECONDS);
}

/** Grace while the daemon owns supervision: `FM_GUARD_GRACE`, else derived from the poll. */
export function awayGrace(variables: GraceVariables): NumberSetting {
  return numberSetting(variables.FM_GUARD_GRACE, "integer", pollGraceSeconds(variables));
}

/** Seconds that a watcher with this poll may take for a cycle: `max(300, poll + 60)`. */
export function pollGraceSeconds(variables: GraceVariables): number {
  return Math.max(DEFAULT_GRACE_SECONDS, pollSeconds(variables).value + POLL_MARGIN_SECONDS);
}

/** Seconds between cycles. */
export function pollSeconds(variables: GraceVariables): NumberSetting {
  return numberSetting(variables.FM_POLL, "digits", DEFAULT_POLL_SECONDS);
}
