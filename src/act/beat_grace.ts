/** One poll of grace for a watcher whose machine has slept, or whose clock was set. */

import {
  beatWaitSeconds,
  isPerhapsTheClock,
  type LateBeat,
  startTicksOf,
} from "../decide/clock_jump.ts";
import type { WatcherFact } from "../decide/facts.ts";
import { flatGrace, pollSeconds } from "../decide/grace.ts";
import { judgeWatcher } from "../decide/watcher_health.ts";
import { BEACON_NAME, observeBeacon } from "../observe/beacon.ts";
import { WATCH_LOCK_NAME } from "../observe/watcher.ts";
import { Bell } from "../platform/bell.ts";
import { ageSeconds } from "../platform/clock.ts";
import { DirectoryChanges } from "../platform/directory_changes.ts";
import { liveness } from "../platform/liveness.ts";

/** What waiting for a beat needs. */
export interface BeatGraceSetup {
  readonly state: string;
  /** Told before a wait of up to so many milliseconds, for whoever has a deadline. */
  readonly willWait?: (limitMs: number) => void;
}

/** Milliseconds between looks where no notice of a change comes. */
const LOOK_STEP_MS = 500;

/**
 * The same fact, or, for a proven watcher whose beat is late for a reason that may lie in the clocks,
 * the fact after its next beat, or after the one poll that it was given.
 */
export async function withBeatGrace(
  fact: WatcherFact,
  setup: BeatGraceSetup,
): Promise<WatcherFact> {
  const late = lateBeat(fact, setup.state);
  if (late === undefined) return fact;
  if (!isPerhapsTheClock(late)) return fact;
  await nextBeat(fact, setup, beatWaitSeconds(late.pollSeconds) * 1000);
  return { ...fact, beacon: observeBeacon(setup.state) };
}

/** The late beat of a watcher that is healthy in every other respect. */
function lateBeat(fact: WatcherFact, state: string): LateBeat | undefined {
  const health = judgeWatcher(fact);
  const late = health.kind === "down" &&
    (health.because === "beacon-stale" || health.because === "clock-skew");
  if (!late || fact.beacon.kind !== "beat") return undefined;
  return {
    ageSeconds: fact.beacon.ageSeconds,
    graceSeconds: flatGrace(fact.grace).value,
    pollSeconds: pollSeconds(fact.grace).value,
    lockAgeSeconds: ageSeconds(`${state}/${WATCH_LOCK_NAME}`),
    clocks: fact.clocks ?? { kind: "unknown" },
    holderStartTicks: fact.identity.kind === "text" ? startTicksOf(fact.identity.text) : undefined,
  };
}

async function nextBeat(
  { holder }: WatcherFact,
  { state, willWait }: BeatGraceSetup,
  limitMs: number,
): Promise<void> {
  willWait?.(limitMs);
  const bell = new Bell();
  using _changes = new DirectoryChanges(state, bell, (name) => name === BEACON_NAME);
  const before = beatTime(state);
  const until = performance.now() + limitMs;
  while (beatTime(state) === before && performance.now() < until) {
    if (holder.kind !== "recorded" || liveness(holder.pid) !== "alive") return;
    await bell.within(Math.min(LOOK_STEP_MS, until - performance.now()));
  }
}

function beatTime(state: string): number | undefined {
  try {
    return Deno.statSync(`${state}/${BEACON_NAME}`).mtime?.getTime();
  } catch {
    return undefined;
  }
}
