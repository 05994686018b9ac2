/** Notices of change in a directory, which only ever shorten a wait. */

import { basename } from "@std/path";
import type { Bell } from "./bell.ts";

/**
 * Rings a bell at every change of an interesting file, until disposed.
 *
 * There may be no notices at all: the limit of watches is reached, the file system has none, the
 * directory is not there yet. Whoever waits for the bell therefore looks now and then in any case.
 */
export class DirectoryChanges implements Disposable {
  readonly #watcher: Deno.FsWatcher | undefined;

  /** `isInteresting` is asked with the base name of what changed. */
  constructor(path: string, bell: Bell, isInteresting: (name: string) => boolean) {
    this.#watcher = startWatching(path);
    if (this.#watcher !== undefined) void ringAtChanges(this.#watcher, bell, isInteresting);
  }

  /** Whether there are notices. */
  get works(): boolean {
    return this.#watcher !== undefined;
  }

  [Symbol.dispose](): void {
    this.#watcher?.close();
  }
}

function startWatching(path: string): Deno.FsWatcher | undefined {
  try {
    return Deno.watchFs(path, { recursive: false });
  } catch {
    return undefined;
  }
}

async function ringAtChanges(
  watcher: Deno.FsWatcher,
  bell: Bell,
  isInteresting: (name: string) => boolean,
): Promise<void> {
  try {
    for await (const { kind, paths } of watcher) {
      // Our own reading is an access too; ringing for it would never end.
      if (kind !== "access" && paths.some((path) => isInteresting(basename(path)))) bell.ring();
    }
  } catch {
    // The notices end here; the regular look goes on.
  }
}
