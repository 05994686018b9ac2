/** The files by which tasks report: what changed since it was last reported. */

import {
  isReported,
  markReported,
  readSignalFile,
  SIGNAL_SUFFIXES,
  type SignalFile,
} from "../state/signal_marker.ts";

/** Files that differ from what was reported of them, status files first, by name. */
export function pendingSignals(state: string): readonly SignalFile[] {
  const names = [...Deno.readDirSync(state)].map((entry) => entry.name)
    .filter((name) => isSignalName(name)).sort();
  return SIGNAL_SUFFIXES.flatMap((suffix) => names.filter((name) => name.endsWith(suffix)))
    .map((name) => readSignalFile(state, name))
    .filter((file) => file !== undefined)
    .filter((file) => !isReported(state, file));
}

/** Records that files were reported as they were when they were found. */
export function markSignals(state: string, files: readonly SignalFile[]): void {
  for (const file of files) markReported(state, file);
}

/** Whether a file of that name carries signals; dot files never do. */
export function isSignalName(name: string): boolean {
  return !name.startsWith(".") && SIGNAL_SUFFIXES.some((suffix) => name.endsWith(suffix));
}
