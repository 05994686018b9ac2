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
  readonly #pass: () => void;
  #settled = false;
  #timer: number | undefined;
  /** When the time is over, by `performance.now()`. */
  #endMs: number;

  /** Starts the time; `limitMs` is in milliseconds, `undefined` for a mode that may take forever. */
  constructor(limitMs: number | undefined) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.passed = promise;
    this.#pass = resolve;
    this.#endMs = performance.now() + (limitMs ?? Infinity);
    this.#start();
  }

  /** Gives more time, in milliseconds; for a wait that the mode itself bounds. */
  extend(ms: number): void {
    if (this.#settled) return;
    clearTimeout(this.#timer);
    this.#endMs += ms;
    this.#start();
  }

  #start(): void {
    if (this.#endMs === Infinity) return;
    this.#timer = setTimeout(() => {
      if (this.settle()) this.#pass();
    }, this.#endMs - performance.now());
  }

  /** Whether the caller is the one that settles the outcome; `false` for all that come later. */
  settle(): boolean {
    clearTimeout(this.#timer);
    if (this.#settled) return false;
    this.#settled = true;
    return true;
  }
}
