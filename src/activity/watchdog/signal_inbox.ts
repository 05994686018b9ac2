/** Signals that a watchdog received, one after the other. */

/** A signal that somebody sent. */
export type ReceivedSignal =
  | "SIGTERM"
  | "SIGHUP"
  | "SIGINT"
  | "SIGQUIT"
  | "SIGUSR1"
  | "SIGUSR2"
  | "SIGWINCH"
  | "SIGCONT"
  | "SIGTSTP";

/** Numbers of the signals that end a program, for exit statuses. */
export const SIGNAL_NUMBERS: Readonly<Partial<Record<Deno.Signal, number>>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGKILL: 9,
  SIGTERM: 15,
};

/** Listens from its making on. */
export class SignalInbox implements Disposable {
  readonly #waiting: ReceivedSignal[] = [];
  readonly #listeners = new Map<ReceivedSignal, () => void>();
  #wake: (() => void) | undefined;

  constructor(signals: readonly ReceivedSignal[]) {
    for (const signal of signals) {
      const listener = (): void => {
        this.#waiting.push(signal);
        this.#wake?.();
      };
      this.#listeners.set(signal, listener);
      Deno.addSignalListener(signal, listener);
    }
  }

  /** The oldest signal that nobody has taken. */
  take(): ReceivedSignal | undefined {
    return this.#waiting.shift();
  }

  /** Resolves as soon as a signal waits. */
  async arrives(): Promise<void> {
    if (this.#waiting.length > 0) return;
    await new Promise<void>((resolve) => this.#wake = resolve);
  }

  [Symbol.dispose](): void {
    for (const [signal, listener] of this.#listeners) Deno.removeSignalListener(signal, listener);
  }
}
