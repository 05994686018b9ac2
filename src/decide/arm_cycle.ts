/** What the end of an arm's own watcher means. */

import { type WakeKind, wakeKind } from "./wake_line.ts";

/** How a watcher ended. */
export interface WatcherExit {
  /** Exit status; 128 plus its number for a signal. */
  readonly status: number;
  /** Everything that it printed on standard output. */
  readonly output: string;
}

/** What follows from it. */
export type ExitMeaning =
  /** Something is to be told. */
  | { readonly kind: "wake"; readonly about: WakeKind }
  /** It ended well without a word: its place may have been taken by another one. */
  | { readonly kind: "clean" }
  | {
    readonly kind: "failed";
    readonly how: "signal-exit" | "nonzero-exit";
    /** Name without `SIG`, or `none`. */
    readonly signal: string;
    /** Whether it has said itself that it failed. */
    readonly told: boolean;
  };

/** Reads an exit. A wake counts only from a watcher that ended well. */
export function judgeExit({ status, output }: WatcherExit): ExitMeaning {
  const lines = output.split("\n");
  if (status !== 0) {
    const told = lines.some((line) => line.startsWith("watcher: FAILED"));
    return status > SIGNAL_BASE
      ? { kind: "failed", how: "signal-exit", signal: signalName(status - SIGNAL_BASE), told }
      : { kind: "failed", how: "nonzero-exit", signal: "none", told };
  }
  const about = lines.map(wakeKind).find((kind) => kind !== undefined);
  return about === undefined ? { kind: "clean" } : { kind: "wake", about };
}

/** Whether a watcher's output says that it took the place of a stalled holder. */
export function saysReplaced(output: string): boolean {
  return output.split("\n").some((line) => line.startsWith("watcher: replaced stalled pid "));
}

/** Exit statuses above this report a signal. */
const SIGNAL_BASE = 128;

/** Signals by their numbers, which are the same on every platform. */
const SIGNALS: Readonly<Record<number, string>> = {
  1: "HUP",
  2: "INT",
  3: "QUIT",
  4: "ILL",
  6: "ABRT",
  8: "FPE",
  9: "KILL",
  11: "SEGV",
  13: "PIPE",
  14: "ALRM",
  15: "TERM",
};

function signalName(number: number): string {
  return SIGNALS[number] ?? "unknown";
}
