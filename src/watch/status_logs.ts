/** The status logs of a home as a heartbeat reads them: what no heartbeat has surfaced yet. */

import {
  isKnownTo,
  markReported,
  readSignalFile,
  type SignalFile,
  unjudgedPart,
} from "../state/signal_marker.ts";

/** One status log. */
export interface StatusLog {
  readonly file: SignalFile;
  /** The part that no heartbeat has surfaced; `undefined` when it is newly unreadable. */
  readonly unseen: string | undefined;
}

/** The status logs of a state directory, by name. */
export function statusLogs(state: string): readonly StatusLog[] {
  return [...Deno.readDirSync(state)].map((entry) => entry.name)
    .filter((name) => !name.startsWith(".") && name.endsWith(".status")).sort()
    .map((name) => readSignalFile(state, name))
    .filter((file) => file !== undefined)
    .map((file) => ({ file, unseen: unseenPart(state, file) }));
}

/** A log that was as unreadable before has nothing new. */
function unseenPart(state: string, file: SignalFile): string | undefined {
  return unjudgedPart(state, file, "heartbeat") ??
    (isKnownTo(state, file, "heartbeat") ? "" : undefined);
}

/** Records that all of the logs were surfaced, or need nothing. What fails is surfaced once more. */
export function markSurfaced(state: string, logs: readonly StatusLog[]): void {
  for (const { file, unseen } of logs) {
    try {
      markReported(state, file, { reader: "heartbeat", judged: unseen !== undefined });
    } catch {
      // The next heartbeat surfaces it again.
    }
  }
}
