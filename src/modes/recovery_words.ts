/** The recovery marker in words for people. */

import type { RecoveryReading } from "../state/recovery_marker.ts";

/** What the marker says about the last downtime. */
export function recoveryInWords(recovery: RecoveryReading): string {
  switch (recovery.kind) {
    case "none":
      return "no downtime is recorded";
    case "invalid":
    case "directory":
      return "the marker is invalid; the next watcher moves it aside";
    case "valid":
      break;
  }
  const { status, kind, generation } = recovery.marker;
  if (status === "acked") return `the last downtime is acknowledged (${generation})`;
  const state = kind === "handling" ? "is being handled" : "waits to be handled";
  return `downtime ${state}, ${status} (${generation})`;
}
