/** Whether an arm's own watcher has come to watch, found out once. */

import { healthyWatcher } from "../../decide/attached_watcher.ts";
import type { WatcherFact } from "../../decide/facts.ts";
import type { Pid } from "../../platform/pid.ts";
import type { ProcessIdentity } from "../../platform/process_identity.ts";

/** What looking for it came to. */
export type Confirmed =
  /** It is healthy, and that was told. */
  | "own"
  /** Somebody else is healthy: it will stand down. */
  | "other"
  /** It is healthy, but what it is to continue cannot be read. */
  | "handoff-failed";

/** What a confirmation needs. */
export interface ConfirmationSetup {
  readonly observe: () => Promise<WatcherFact>;
  /** Tells that the own watcher is healthy. */
  readonly own: (pid: Pid) => Promise<"own" | "handoff-failed">;
  /** Notes that somebody else is. */
  readonly other: (pid: Pid) => Promise<void>;
}

/** The looks at one run. They come from two places, and never overlap. */
export class Confirmation {
  readonly #setup: ConfirmationSetup;
  #last: Promise<Confirmed | undefined> = Promise.resolve(undefined);
  #identity: ProcessIdentity | undefined;

  constructor(setup: ConfirmationSetup) {
    this.#setup = setup;
  }

  /** The identity under which the own watcher holds the lock, as far as it was seen. */
  get identity(): ProcessIdentity | undefined {
    return this.#identity;
  }

  /** Looks, unless the answer is known; `undefined` while nobody is healthy. */
  look(own: Pid): Promise<Confirmed | undefined> {
    this.#last = this.#last.then((known) => known ?? this.#lookNow(own));
    return this.#last;
  }

  async #lookNow(own: Pid): Promise<Confirmed | undefined> {
    const fact = await this.#setup.observe();
    const { holder } = fact;
    if (holder.kind === "recorded" && holder.pid === own && holder.identity.kind === "known") {
      this.#identity = holder.identity.identity;
    }
    const watcher = healthyWatcher(fact);
    if (watcher === undefined) return undefined;
    if (watcher.pid === own) return await this.#setup.own(own);
    await this.#setup.other(watcher.pid);
    return "other";
  }
}
