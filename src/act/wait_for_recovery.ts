/** The guard's bounded wait for the other Stop hook, woken by what changes in the state directory. */

import { basename } from "@std/path";
import { BEACON_NAME } from "../observe/beacon.ts";
import { WATCH_LOCK_NAME } from "../observe/watcher.ts";
import { LEDGER_NAME } from "../state/claude_ledger.ts";
import { ownerLockPath } from "./legacy_claim.ts";

/** Milliseconds between looks when nothing is reported: the pace of a shell guard. */
const STEP_MS = 100;

/**
 * Looks until `look` answers or `waitMs` have passed, and at least once; gives the last answer.
 *
 * The wait counts from the first look, in whole steps. A change of the ledger, of a lock or of the
 * beacon leads to a look at once, and a step without any report to one as well, because file events
 * do not exist on every file system. An arm that is a shell script may take longer than the guard's own
 * start, so the time is never shortened by the looks themselves.
 */
export async function waitForRecovery<Answer>(
  state: string,
  waitMs: number,
  look: () => Promise<Answer | undefined>,
): Promise<Answer | undefined> {
  const startedAt = performance.now();
  const limitMs = Math.floor(waitMs / STEP_MS) * STEP_MS;
  if (limitMs === 0) return await look();
  const changes = new ChangeReports(state);
  using _changes = changes;
  while (true) {
    const answer = await look();
    const leftMs = limitMs - (performance.now() - startedAt);
    if (answer !== undefined || leftMs <= 0) return answer;
    await changes.within(Math.min(STEP_MS, leftMs));
  }
}

/** Reports of changes to the files that recovery shows in. */
class ChangeReports implements Disposable {
  readonly #names: ReadonlySet<string>;
  #watcher: Deno.FsWatcher | undefined;
  #next: PromiseWithResolvers<void> = Promise.withResolvers<void>();

  constructor(state: string) {
    this.#names = new Set([
      LEDGER_NAME,
      WATCH_LOCK_NAME,
      BEACON_NAME,
      basename(ownerLockPath(state)),
    ]);
    try {
      this.#watcher = Deno.watchFs(state, { recursive: false });
      this.#follow(this.#watcher);
    } catch {
      // No file events here (limit reached, unsupported file system): the steps still look.
      this.#watcher = undefined;
    }
  }

  /** Resolves at the next report, or after `waitMs`. */
  async within(waitMs: number): Promise<void> {
    let timer: number | undefined;
    const step = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, waitMs);
    });
    await Promise.race([this.#next.promise, step]);
    clearTimeout(timer);
    this.#next = Promise.withResolvers<void>();
  }

  async #follow(watcher: Deno.FsWatcher): Promise<void> {
    for await (const event of watcher) {
      if (event.kind === "access") continue;
      if (event.paths.some((path) => this.#names.has(basename(path)))) this.#next.resolve();
    }
  }

  [Symbol.dispose](): void {
    this.#watcher?.close();
  }
}
