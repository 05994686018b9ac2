/** A program of the home's own that knows when something has changed, `TURNGUARD_EVENT_WAIT`. */

import type { Bell } from "../platform/bell.ts";
import { runGroup } from "../platform/process_group.ts";

/** Failures in a row after which the program is no longer asked. */
const FAILURE_LIMIT = 3;

/** Milliseconds that the program may take beyond its budget. */
const OVERRUN_MS = 1_000;

/** Exit statuses of the program: something changed; the budget passed quietly. */
const CHANGED = 0;
const QUIET = 1;

/** Waits with the program's help. Losing it costs latency only: the wait never exceeds its budget. */
export class EventWait {
  readonly #path: string;
  readonly #bell: Bell;
  #failures = 0;

  /** A ring of `bell` ends a wait as well. */
  constructor(path: string, bell: Bell) {
    this.#path = path;
    this.#bell = bell;
  }

  /** Waits at most `budgetMs`, and about a second more for a program that overruns. */
  async within(budgetMs: number): Promise<void> {
    const until = performance.now() + budgetMs;
    if (this.#failures < FAILURE_LIMIT && await this.#ask(budgetMs)) return;
    await this.#bell.within(Math.max(0, until - performance.now()));
  }

  /** Whether the wait is over; `false` leaves the rest of the budget to be slept. */
  async #ask(budgetMs: number): Promise<boolean> {
    const { promise: stop, resolve: end } = Promise.withResolvers<void>();
    const rung = this.#bell.within(budgetMs + OVERRUN_MS).then((wasRung) => {
      end();
      return wasRung;
    });
    const run = await runGroup({ path: this.#path, args: [String(budgetMs / 1000)] }, {
      deadlineMs: budgetMs + OVERRUN_MS,
      outputLimitBytes: 0,
      tick: () => {},
      stop,
    });
    if (run.kind !== "stopped") this.#bell.ring();
    const wasRung = await rung;
    if (run.kind === "stopped" && wasRung) return true;
    const answered = run.kind === "ended" && (run.status === CHANGED || run.status === QUIET);
    this.#failures = answered ? 0 : this.#failures + 1;
    return answered;
  }
}
