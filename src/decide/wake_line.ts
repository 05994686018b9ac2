/** The lines that deliver a wake, as every reader of a watcher's output tells them from other text. */

/** What a wake is about. */
export type WakeKind = "signal" | "stale" | "check" | "heartbeat";

const STARTS: readonly (readonly [WakeKind, RegExp])[] = [
  ["signal", /^signal:/],
  ["stale", /^stale:/],
  ["check", /^check:/],
  ["heartbeat", /^heartbeat(?:$|:)/],
];

/** What the wake in `line` is about; `undefined` when the line delivers none. */
export function wakeKind(line: string): WakeKind | undefined {
  return STARTS.find(([, start]) => start.test(line))?.[0];
}

/** Whether `line` delivers a wake. */
export function isWakeLine(line: string): boolean {
  return wakeKind(line) !== undefined;
}
