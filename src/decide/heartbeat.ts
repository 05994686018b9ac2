/** How often a quiet watcher says that it is still there. */

/** Doublings after which the interval no longer grows by itself. */
const LARGEST_STREAK = 12;

/**
 * Seconds between heartbeats: doubled for each one in a row that had nothing to tell, up to a cap.
 */
export function heartbeatSeconds(base: number, cap: number, streak: number): number {
  return Math.min(base * 2 ** Math.min(streak, LARGEST_STREAK), cap);
}

/** The streak after a wake: one more after a heartbeat, from the start after anything else. */
export function nextStreak(streak: number, reason: string): number {
  return reason.startsWith("heartbeat") ? streak + 1 : 0;
}
