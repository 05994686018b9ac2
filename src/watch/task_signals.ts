/** The files by which tasks report: what changed since it was last reported, and when to look again. */

import {
  isReported,
  markReported,
  readSignalFile,
  SIGNAL_SUFFIXES,
  type SignalFile,
} from "../state/signal_marker.ts";

/** The signal files of one state directory. */
export class TaskSignals implements Disposable {
  readonly #state: string;
  #watcher: Deno.FsWatcher | undefined;
  #report = Promise.withResolvers<void>();

  constructor(state: string) {
    this.#state = state;
    try {
      this.#watcher = Deno.watchFs(state, { recursive: false });
      this.#follow(this.#watcher);
    } catch {
      // No file events here: the poll finds the same changes later.
      this.#watcher = undefined;
    }
  }

  /** Files that differ from what was reported of them, status files first, by name. */
  pending(): readonly SignalFile[] {
    const names = [...Deno.readDirSync(this.#state)].map((entry) => entry.name)
      .filter((name) => !name.startsWith(".")).sort();
    return SIGNAL_SUFFIXES.flatMap((suffix) => names.filter((name) => name.endsWith(suffix)))
      .map((name) => readSignalFile(this.#state, name))
      .filter((file) => file !== undefined && !isReported(this.#state, file))
      .filter((file) => file !== undefined);
  }

  /** Records that files were reported as they were when they were found. */
  mark(files: readonly SignalFile[]): void {
    for (const file of files) markReported(this.#state, file);
  }

  /** Resolves when a signal file changes. */
  nextReport(): Promise<void> {
    return this.#report.promise;
  }

  async #follow(watcher: Deno.FsWatcher): Promise<void> {
    for await (const event of watcher) {
      if (event.kind === "access" || !event.paths.some(isSignalPath)) continue;
      this.#report.resolve();
      this.#report = Promise.withResolvers<void>();
    }
  }

  [Symbol.dispose](): void {
    this.#watcher?.close();
  }
}

function isSignalPath(path: string): boolean {
  return SIGNAL_SUFFIXES.some((suffix) => path.endsWith(suffix)) && !/\/\.[^/]*$/.test(path);
}
