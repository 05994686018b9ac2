/** Reports of change in a state directory, which only ever shorten a watcher's wait. */

import { basename } from "@std/path";
import type { Bell } from "../platform/bell.ts";

/** Files whose change is worth an early look. Most dot files are our own: the beacon is one. */
const INTERESTING = /^(?:[^.].*\.(?:status|turn-ended|check\.sh)|\.wake-queue)$/;

/** Rings a bell for every change until disposed. */
export class SignalReports implements Disposable {
  #watcher: Deno.FsWatcher | undefined;

  constructor(state: string, bell: Bell) {
    try {
      this.#watcher = Deno.watchFs(state, { recursive: false });
      void ringAtChanges(this.#watcher, bell);
    } catch {
      // No file events here (limit reached, unsupported file system): the poll finds it later.
      this.#watcher = undefined;
    }
  }

  [Symbol.dispose](): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }
}

async function ringAtChanges(watcher: Deno.FsWatcher, bell: Bell): Promise<void> {
  try {
    for await (const event of watcher) {
      if (event.kind === "access") continue;
      if (event.paths.some((path) => INTERESTING.test(basename(path)))) bell.ring();
    }
  } catch {
    // The reports end here; the poll goes on.
  }
}
