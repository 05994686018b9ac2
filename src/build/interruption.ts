/**
 * Ends a build in order when somebody stops it, and says how it ended.
 *
 * @module
 */

import { BuildFailure, diskFull, saysDiskFull } from "./failure.ts";

/**
 * An abort signal that Ctrl-C and SIGTERM trigger, so that the scopes that own
 * temporary folders end and remove them.
 */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  const stop = (): void =>
    controller.abort(
      new BuildFailure({
        wrong: "The build was interrupted.",
        untouched: "The executable of an earlier build is as it was.",
        advice: "Start it again when you like.",
      }),
    );
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    Deno.addSignalListener(signal, stop);
  }
  return controller.signal;
}

/** An error as the build tells it; `root` is where a full disk would be. */
export function describeFailure(error: unknown, root: string): string {
  if (error instanceof BuildFailure) return error.describe();
  if (saysDiskFull(error)) return diskFull(root, error).describe();
  const detail = error instanceof Error ? error.stack ?? error.message : String(error);
  return `error: ${detail}`;
}
