/** The beacon as its watcher moves it. */

import { BEACON_NAME } from "../observe/beacon.ts";
import { touch } from "./touch.ts";

/** Longest time in seconds between two beats of a step that takes long. */
const LONGEST_TICK_SECONDS = 15;

/**
 * Beats for one watcher. Only code that advances the watcher's loop may call it, never a timer of its
 * own: a loop that is stuck has to look stuck.
 */
export class Beat {
  readonly #path: string;
  readonly #tickMs: number;
  #last = -Infinity;

  /** `staleGraceSeconds` bounds how far two beats of a long step may lie apart. */
  constructor(state: string, staleGraceSeconds: number) {
    this.#path = `${state}/${BEACON_NAME}`;
    this.#tickMs = 1000 *
      Math.min(LONGEST_TICK_SECONDS, Math.max(1, Math.floor(staleGraceSeconds / 3)));
  }

  /** Beats. Throws what the operating system reports. */
  beat(): void {
    touch(this.#path);
    this.#last = performance.now();
  }

  /** Beats if the last beat is long enough ago; for the middle of a step. */
  tick(): void {
    if (performance.now() - this.#last >= this.#tickMs) this.beat();
  }

  /** Milliseconds within which {@link tick} wants to be called again. */
  get tickMs(): number {
    return this.#tickMs;
  }
}
