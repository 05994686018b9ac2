/** Away or quiet mode, and the daemon that owns supervision in it. */

import type { DaemonFact } from "../decide/facts.ts";
import type { GraceVariables } from "../decide/grace.ts";
import { lineOf, readCapture, readText } from "../platform/file_text.ts";
import { targetKind } from "../platform/path_kind.ts";
import type { Processes } from "../platform/processes.ts";
import { observeBeacon } from "./beacon.ts";
import { observeHolder } from "./holder.ts";

/** Observes the daemon. While the mode is off its lock is not even looked at. */
export async function observeDaemon(
  state: string,
  variables: GraceVariables,
  processes: Processes,
): Promise<DaemonFact> {
  const mode = observeAwayMode(state);
  const lock = daemonLockPath(state);
  return {
    mode,
    holder: mode === "off" ? { kind: "none" } : await observeHolder(lock, processes),
    identity: readCapture(`${lock}/pid-identity`),
    beacon: observeBeacon(state),
    grace: variables,
  };
}

/** Path of the lock that the daemon of a state directory holds. */
export function daemonLockPath(state: string): string {
  return `${state}/.supervise-daemon.lock`;
}

/** The mode that `.afk` declares. Any content but the word `quiet` is away, an old epoch included. */
export function observeAwayMode(state: string): DaemonFact["mode"] {
  const path = `${state}/.afk`;
  if (targetKind(path) === "absent") return "off";
  const content = readText(path);
  return content.kind === "text" && lineOf(content.text, 1) === "quiet" ? "quiet" : "away";
}
