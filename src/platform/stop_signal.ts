/** The signals by which an operating system or a person asks a program to stop. */

/** A signal that asks to stop, and the exit status that reports it (128 plus its number). */
export interface StopSignal {
  readonly name: "SIGHUP" | "SIGINT" | "SIGTERM";
  readonly status: number;
}

const STOP_SIGNALS: readonly StopSignal[] = [
  { name: "SIGHUP", status: 129 },
  { name: "SIGINT", status: 130 },
  { name: "SIGTERM", status: 143 },
];

/**
 * Resolves with the first stop signal; later ones are ignored, so that the way out is not cut short.
 *
 * The listeners stay for the rest of the process.
 */
export function firstStopSignal(): Promise<StopSignal> {
  return new Promise((resolve) => {
    for (const signal of STOP_SIGNALS) {
      Deno.addSignalListener(signal.name, () => resolve(signal));
    }
  });
}
