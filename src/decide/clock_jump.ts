/** Whether a late beat may be the machine's doing: it slept, or its clock was set. */

import type { MachineClocks } from "../platform/machine_clocks.ts";
import { CLOCK_SKEW_SECONDS } from "./freshness.ts";

/** A beat that is too old, or in the future, from a watcher whose process is proven. */
export interface LateBeat {
  /** Negative when it lies in the future. */
  readonly ageSeconds: number;
  readonly graceSeconds: number;
  readonly pollSeconds: number;
  /** Age of the watch lock by the wall clock. */
  readonly lockAgeSeconds: number | undefined;
  /** Ticks since boot at which the lock's holder started, where its identity tells. */
  readonly holderStartTicks: number | undefined;
  readonly clocks: MachineClocks;
}

/** Seconds of sleep or of a clock's step that count; below is noise of the accounting. */
const NOTICED_SECONDS = 60;

/** Part of the time since boot by which the two ways of counting it may differ without any sleep. */
const NOISE = 0.01;

/** Ticks of the kernel's clock in a second, for decades the same on every Linux. */
const TICKS_PER_SECOND = 100;

/**
 * Whether the watcher deserves one more poll before it counts as stuck.
 *
 * A machine that wakes up, or whose clock is set, makes every beat look old at once, while the watcher
 * itself gives its next one within a poll. A wrong "yes" costs that wait and nothing else.
 */
export function isPerhapsTheClock(beat: LateBeat): boolean {
  if (beat.ageSeconds < -CLOCK_SKEW_SECONDS) return true;
  const overdueSeconds = beat.ageSeconds - beat.graceSeconds;
  if (overdueSeconds < 0) return false;
  switch (beat.clocks.kind) {
    case "since-boot": {
      const { upSeconds, awakeSeconds } = beat.clocks;
      const slept = upSeconds - awakeSeconds;
      const noticed = Math.max(NOTICED_SECONDS, upSeconds * NOISE);
      return (slept >= noticed && slept >= overdueSeconds) ||
        steppedSeconds(beat, upSeconds) >= Math.max(NOTICED_SECONDS, overdueSeconds);
    }
    case "since-wake": {
      const { wokeAgoSeconds } = beat.clocks;
      return wokeAgoSeconds < beat.ageSeconds && wokeAgoSeconds <= beat.pollSeconds;
    }
    case "unknown":
      return false;
  }
}

/** How far the clock was set forward: no lock can be older than the process that took it. */
function steppedSeconds({ lockAgeSeconds, holderStartTicks }: LateBeat, upSeconds: number): number {
  if (lockAgeSeconds === undefined || holderStartTicks === undefined) return 0;
  return lockAgeSeconds - (upSeconds - holderStartTicks / TICKS_PER_SECOND);
}

/** The start that an identity records, such as `linux-starttime=123 cmdline-hex=61`. */
export function startTicksOf(identity: string): number | undefined {
  const ticks = /^linux-starttime=([0-9]{1,15}) /.exec(identity)?.[1];
  return ticks === undefined ? undefined : Number(ticks);
}

/** Longest time in seconds that a watcher is waited for. */
const LONGEST_WAIT_SECONDS = 17;

/** Seconds that the next beat of a watcher with this poll may take. */
export function beatWaitSeconds(pollSeconds: number): number {
  return Math.min(LONGEST_WAIT_SECONDS, pollSeconds + 2);
}
