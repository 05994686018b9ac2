/** Something that can be rung and waited for many times without leaving anything behind. */

/**
 * A bell with one listener.
 *
 * A promise that lives as long as a program keeps every `then` that was ever put on it; a loop that
 * waits for one all day would grow with each turn. A ring that comes while nobody waits is kept for
 * the next wait.
 */
export class Bell {
  #rung = false;
  #listener: (() => void) | undefined;

  /** Ends the current wait, or the next one. */
  ring(): void {
    this.#rung = true;
    this.#listener?.();
  }

  /** Waits for a ring, at most `waitMs`; tells whether there was one. Leaves no timer behind. */
  async within(waitMs: number): Promise<boolean> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, waitMs);
        this.#listener = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#listener = undefined;
    }
    const rung = this.#rung;
    this.#rung = false;
    return rung;
  }
}
