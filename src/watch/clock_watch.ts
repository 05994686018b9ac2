/** What a watcher does about a machine that slept, or whose clock was set, while it waited. */

import { nowMs } from "../platform/clock.ts";

/** Seconds by which the two clocks may drift apart between two looks without being noticed. */
const NOTICED_SECONDS = 5;

/** Compares the wall clock with one that neither sleeps through nor can be set. */
export class ClockWatch {
  #wallMs = nowMs();
  #awakeMs = performance.now();

  /**
   * Seconds by which the wall clock went ahead of the time that was spent awake since the last look;
   * negative after a step back, 0 when nothing is to be noticed.
   */
  jumpSeconds(): number {
    const wallMs = nowMs();
    const awakeMs = performance.now();
    const jump = (wallMs - this.#wallMs - (awakeMs - this.#awakeMs)) / 1000;
    this.#wallMs = wallMs;
    this.#awakeMs = awakeMs;
    return Math.abs(jump) < NOTICED_SECONDS ? 0 : jump;
  }
}

/**
 * Moves the times of cadence files with the clock, so that deadlines are counted in time awake and not
 * all of them fall due at once. Silent when it cannot: work is then done early.
 */
export function shiftTimes(paths: readonly string[], seconds: number): void {
  for (const path of paths) {
    try {
      const modified = Deno.statSync(path).mtime;
      if (modified === null) continue;
      const shifted = new Date(modified.getTime() + seconds * 1000);
      Deno.utimeSync(path, shifted, shifted);
    } catch {
      // Missing: it is due in any case.
    }
  }
}
