/** When samples of a home add up to an alarm: two in a row, never too soon after boot or sleep. */

import type { Condition } from "./deadman_condition.ts";

/** How often a deadman looks and tells. */
export interface DeadmanTiming {
  readonly intervalSeconds: number;
  /** Least time between two alarms that were told. */
  readonly cooldownSeconds: number;
  /** Uptime below which nothing is judged; 0 for never. */
  readonly bootGraceSeconds: number;
}

/** What one sample came to. */
export interface Sample {
  readonly kind: Condition["kind"] | "grace";
  readonly because: string;
  /** Seconds since the epoch. */
  readonly atSeconds: number;
}

/** One start of the notify command. */
export interface Attempt {
  readonly atSeconds: number;
  /** `started` stays behind when the sampling process was ended while the command ran. */
  readonly outcome: "started" | "told" | "failed";
  /** What went wrong; empty otherwise. */
  readonly because: string;
}

/** What a deadman remembers from one sample to the next. Times are seconds since the epoch. */
export interface DeadmanMemory {
  readonly sample: Sample | null;
  /** Unhealthy samples in a row. */
  readonly streak: number;
  /** When the first of them was taken. */
  readonly streakSinceSeconds: number | null;
  /** When a sample last counted, which `unknown` and `grace` never do. */
  readonly countedAtSeconds: number | null;
  /** When an alarm was last told. */
  readonly toldAtSeconds: number | null;
  /** The last start of the notify command, however it ended. */
  readonly attempt: Attempt | null;
}

/** The moment of a sample. */
export interface Moment {
  /** Seconds since the epoch. */
  readonly nowSeconds: number;
  /** Seconds since boot; `undefined` where the machine does not tell. */
  readonly uptimeSeconds: number | undefined;
}

/** Unhealthy samples in a row that make an alarm. */
const ALARM_STREAK = 2;

/** Intervals without a counted sample after which the machine slept, or was off. */
const GAP_INTERVALS = 2.5;

/** Share of an interval that timers may come early; without it a retry would miss every other one. */
const EARLY_SHARE = 0.1;

/** The memory of a deadman that has not looked yet. */
export const NO_MEMORY: DeadmanMemory = {
  sample: null,
  streak: 0,
  streakSinceSeconds: null,
  countedAtSeconds: null,
  toldAtSeconds: null,
  attempt: null,
};

/** Whether the machine was started so recently that a watcher need not be back yet. */
export function isBooting(moment: Moment, timing: DeadmanTiming): boolean {
  return moment.uptimeSeconds !== undefined && moment.uptimeSeconds < timing.bootGraceSeconds;
}

/** The memory after a sample. */
export function remember(
  memory: DeadmanMemory,
  sample: Pick<Sample, "kind" | "because">,
  moment: Moment,
  timing: DeadmanTiming,
): DeadmanMemory {
  const { nowSeconds } = moment;
  const seen = {
    ...withoutFuture(memory, nowSeconds),
    sample: { ...sample, atSeconds: nowSeconds },
  };
  switch (sample.kind) {
    case "unknown":
      return seen;
    case "grace":
      return { ...seen, streak: 0, streakSinceSeconds: null, countedAtSeconds: null };
    case "healthy":
      return { ...seen, streak: 0, streakSinceSeconds: null, countedAtSeconds: nowSeconds };
    case "unhealthy": {
      const anew = memory.streak === 0 || startsAnew(memory, moment, timing);
      return {
        ...seen,
        streak: anew ? 1 : memory.streak + 1,
        streakSinceSeconds: anew ? nowSeconds : memory.streakSinceSeconds ?? nowSeconds,
        countedAtSeconds: nowSeconds,
      };
    }
  }
}

/**
 * Whether an earlier sample says nothing about this one, because the machine slept, was off or was
 * restarted in between, or because the clock went back.
 */
function startsAnew(
  { countedAtSeconds }: DeadmanMemory,
  { nowSeconds, uptimeSeconds }: Moment,
  { intervalSeconds }: DeadmanTiming,
): boolean {
  if (countedAtSeconds === null || countedAtSeconds > nowSeconds) return true;
  if (nowSeconds - countedAtSeconds > GAP_INTERVALS * intervalSeconds) return true;
  return uptimeSeconds !== undefined && nowSeconds - uptimeSeconds > countedAtSeconds;
}

/** A clock that was set back must not silence alarms until it has caught up. */
function withoutFuture(memory: DeadmanMemory, nowSeconds: number): DeadmanMemory {
  const { toldAtSeconds, attempt } = memory;
  return {
    ...memory,
    toldAtSeconds: toldAtSeconds === null ? null : Math.min(toldAtSeconds, nowSeconds),
    attempt: attempt === null
      ? null
      : { ...attempt, atSeconds: Math.min(attempt.atSeconds, nowSeconds) },
  };
}

/** Whether the home has been found unsupervised often enough. */
export function isAlarm({ sample, streak }: DeadmanMemory): boolean {
  return sample?.kind === "unhealthy" && streak >= ALARM_STREAK;
}

/** Whether the notify command is to be started now. */
export function isAlarmDue(
  memory: DeadmanMemory,
  timing: DeadmanTiming,
  nowSeconds: number,
): boolean {
  return isAlarm(memory) && nowSeconds >= nextAlarmSeconds(memory, timing);
}

/** The second since the epoch from which an alarm may be told; 0 when at any time. */
export function nextAlarmSeconds(
  { toldAtSeconds, attempt }: DeadmanMemory,
  { cooldownSeconds, intervalSeconds }: DeadmanTiming,
): number {
  const afterTelling = toldAtSeconds === null ? 0 : toldAtSeconds + cooldownSeconds;
  const afterAttempt = attempt === null
    ? 0
    : attempt.atSeconds + Math.floor(intervalSeconds * (1 - EARLY_SHARE));
  return Math.max(afterTelling, afterAttempt);
}

/** Whether the schedule has skipped so many samples that it no longer runs. */
export function isOverdue(
  { sample }: DeadmanMemory,
  { intervalSeconds }: DeadmanTiming,
  nowSeconds: number,
): boolean {
  return sample !== null && nowSeconds - sample.atSeconds > GAP_INTERVALS * intervalSeconds;
}

/** What the notify command is told, one line. */
export function alarmMessage(home: string, memory: DeadmanMemory): string {
  const { sample, streak, streakSinceSeconds } = memory;
  const forSeconds = (sample?.atSeconds ?? 0) - (streakSinceSeconds ?? 0);
  return `turnguard: work in ${home} is unsupervised: ${sample?.because ?? "not known why"}. ` +
    `Seen in ${streak} samples over ${forSeconds} s.`;
}
