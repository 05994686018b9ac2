/** How long the away daemon waits before it starts the next watcher. */

/** When crashes count, and what they cost; seconds. */
export interface RestartSettings {
  readonly windowSeconds: number;
  /** Crashes in the window from which on starting is backed off. */
  readonly threshold: number;
  readonly normalSeconds: number;
  readonly backoffSeconds: number;
}

/** What follows a crash. */
export interface Restart {
  readonly kind: "restart" | "back-off";
  readonly waitSeconds: number;
  /** Crashes in the window, this one included. */
  readonly crashes: number;
  /** Times of the crashes that still count; a back-off forgets them. */
  readonly times: readonly number[];
}

/** Decides after a crash at `now`; `times` and `now` are seconds of one clock that never steps. */
export function afterCrash(
  times: readonly number[],
  now: number,
  settings: RestartSettings,
): Restart {
  const counted = [...times, now].filter((time) => now - time <= settings.windowSeconds);
  const crashes = counted.length;
  return crashes > settings.threshold
    ? { kind: "back-off", waitSeconds: settings.backoffSeconds, crashes, times: [] }
    : { kind: "restart", waitSeconds: settings.normalSeconds, crashes, times: counted };
}
