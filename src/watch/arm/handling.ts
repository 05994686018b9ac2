/** The recovery marker as an arm that continues somebody's cycle sees it. */

import { readRecoveryMarker } from "../../state/recovery_marker.ts";

/** What stands there when a successor has been confirmed. */
export type HandlingState =
  /** A stretch of downtime that has not been acknowledged. */
  | { readonly kind: "open"; readonly generation: string }
  | { readonly kind: "none" }
  | { readonly kind: "unreadable" };

/** Reads it. */
export function handlingState(state: string): HandlingState {
  const found = readRecoveryMarker(state);
  if (found.kind === "none") return found;
  if (found.kind !== "valid") return { kind: "unreadable" };
  const { status, generation } = found.marker;
  return status === "acked" ? { kind: "none" } : { kind: "open", generation };
}
