/** The one moment at which a hook's outcome is settled: by its verdict, or by the time it has. */

/**
 * Time in which a hook may come to a verdict.
 *
 * A starved process can find its verdict and its deadline due in the same turn of the event loop.
 * Whichever is settled first stands, so that a banner never goes with the status of an allow.
 */
export class Deadline {
  /** Resolves when the time is over and no verdict was settled before; never without a limit. */
  readonly passed: Promise<void>;
  #settled = false;
  readonly #timer: number | undefined;

  /** Starts the time; `limitMs` is in milliseconds, `undefined` for a mode that may take forever. */
  constructor(limitMs: number | undefined) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.passed = promise;
    if (limitMs === undefined) return;
    this.#timer = setTimeout(() => {
      if (this.settle()) resolve();
    }, limitMs);
  }

  /** Whether the caller is the one that settles the outcome; `false` for all that come later. */
  settle(): boolean {
    clearTimeout(this.#timer);
    if (this.#settled) return false;
    this.#settled = true;
    return true;
  }
}
