/** The watcher: holds the watch lock, beats once a cycle, and leaves a trace when it goes. */

import { publishDowntime, publishDowntimeNow } from "../act/recovery.ts";
import { appendWake } from "../act/wake_append.ts";
import { pollGraceSeconds, pollSeconds } from "../decide/grace.ts";
import { numberSetting } from "../decide/number.ts";
import { judgeRefusal, type Refusal } from "../decide/watcher_refusal.ts";
import { BEACON_NAME, observeBeacon } from "../observe/beacon.ts";
import type { Home } from "../observe/home.ts";
import { graceVariables } from "../observe/turn_end.ts";
import { WATCH_LOCK_NAME } from "../observe/watcher.ts";
import { ageSeconds } from "../platform/clock.ts";
import { Bell } from "../platform/bell.ts";
import { DirectoryChanges } from "../platform/directory_changes.ts";
import type { Environment } from "../platform/environment.ts";
import { errorMessage } from "../platform/file_text.ts";
import { targetKind } from "../platform/path_kind.ts";
import type { Pid } from "../platform/pid.ts";
import { ownPid, type Processes } from "../platform/processes.ts";
import { type HeldLock, tryLock } from "../state/lock.ts";
import type { SignalFile } from "../state/signal_marker.ts";
import { queuePaths } from "../state/wake_queue.ts";
import { checkSettings, isSweepDue, touchLastCheck } from "./checks/cadence.ts";
import { sweepChecks } from "./checks/sweep.ts";
import { isSignalName, markSignals, pendingSignals } from "./task_signals.ts";
import { touch } from "./touch.ts";

/** How a watcher's life ended, or why it never began. */
export type WatcherEnd =
  | Refusal
  /** Somebody else took the lock. */
  | { readonly kind: "lost-lock" }
  /** The home was removed while it was watched. */
  | { readonly kind: "home-gone"; readonly what: string }
  /** Something needs a handling turn; `reason` is the line that says what. */
  | { readonly kind: "wake"; readonly reason: string; readonly released: boolean }
  /** Something needs a handling turn, but the queue could not take it; no marker was advanced. */
  | { readonly kind: "not-queued" }
  /** Something that was started for the home cannot be ended; nobody may watch beside it. */
  | { readonly kind: "failed"; readonly because: string }
  /** Asked to stop. */
  | { readonly kind: "stopped"; readonly released: boolean };

/** What a watcher needs. */
export interface WatcherSetup {
  readonly home: Home;
  readonly environment: Environment;
  readonly processes: Processes;
  /** Resolves when the watcher is to stop. */
  readonly stop: Promise<void>;
  /** Called once the lock is held and the first beat was given. */
  readonly started: () => void;
}

/** Milliseconds that the way out waits for the recovery marker's lock. */
const CLEANUP_LIMIT_MS = 2_000;

/** Watches until it is told to stop, or until it no longer may. */
export async function runWatcher(setup: WatcherSetup): Promise<WatcherEnd> {
  const { state } = setup.home;
  const attempt = tryLock(`${state}/${WATCH_LOCK_NAME}`, {
    beforeSteal: () => publishDowntimeNow(state),
  });
  if (attempt.kind === "refused") return observeRefusal(setup, attempt.holder);
  const { lock } = attempt;
  await recordOwnership(setup, lock);
  const end = await cycleSafely(setup, lock);
  if (end.kind === "lost-lock") {
    lock.abandon();
    return end;
  }
  // Downtime is recorded before the lock goes, so that no reader sees neither.
  const released = await publishDowntime(state, CLEANUP_LIMIT_MS);
  if (released) lock.release();
  else lock.abandon();
  return end.kind === "stopped" || end.kind === "wake" ? { ...end, released } : end;
}

/** Whatever goes wrong in a cycle ends the watcher by its ordinary way out. */
async function cycleSafely(setup: WatcherSetup, lock: HeldLock): Promise<WatcherEnd> {
  try {
    return await cycle(setup, lock);
  } catch (error) {
    return { kind: "failed", because: errorMessage(error) };
  }
}

async function cycle(setup: WatcherSetup, lock: HeldLock): Promise<WatcherEnd> {
  const { home } = setup;
  const pollMs = pollSeconds(graceVariables(setup.environment)).value * 1000;
  let announce: (() => void) | undefined = setup.started;
  let stopping = false;
  const bell = new Bell();
  void setup.stop.then(() => {
    stopping = true;
    bell.ring();
  });
  using _changes = new DirectoryChanges(home.state, bell, isSignalName);
  while (true) {
    if (!lock.isOurs()) return { kind: "lost-lock" };
    const missing = [home.home, home.state].find((path) => targetKind(path) !== "directory");
    if (missing !== undefined) return { kind: "home-gone", what: missing };
    touch(`${home.state}/${BEACON_NAME}`);
    announce?.();
    announce = undefined;
    // Before signals, so that a chatty task cannot starve the checks.
    const swept = await sweepWhenDue(setup);
    if (swept !== undefined) return swept;
    const changed = pendingSignals(home.state);
    if (changed.length > 0) return await wake(setup, changed);
    if (!stopping) await bell.within(pollMs);
    if (stopping) return { kind: "stopped", released: false };
  }
}

/** The row comes before the marker that suppresses a repeat, and both before anybody is told. */
async function wake(
  setup: WatcherSetup,
  files: readonly SignalFile[],
): Promise<WatcherEnd> {
  const reason = `signal: ${files.map((file) => file.path).join(" ")}`;
  const paths = queuePaths(setup.home.state, setup.environment);
  for (const file of files) {
    const queued = await appendWake(paths, { kind: "signal", key: file.name, payload: reason });
    if (!queued) return { kind: "not-queued" };
  }
  markSignals(setup.home.state, files);
  return { kind: "wake", reason, released: false };
}

/** Runs the checks when they are due; tells how that ended the watcher's life, if it did. */
async function sweepWhenDue(
  { home, environment, stop }: WatcherSetup,
): Promise<WatcherEnd | undefined> {
  const settings = checkSettings(environment);
  if (!isSweepDue(home.state, settings)) return undefined;
  const { timeoutSeconds } = settings;
  const tick = () => touch(`${home.state}/${BEACON_NAME}`);
  const outcome = await sweepChecks({ home, timeoutSeconds, tick, stop });
  switch (outcome.kind) {
    case "output":
    case "rejected": {
      const queued = await appendWake(queuePaths(home.state, environment), outcome.row);
      if (!queued) return { kind: "not-queued" };
      touchLastCheck(home.state);
      return { kind: "wake", reason: outcome.reason, released: false };
    }
    case "group-not-gone":
      return { kind: "failed", because: `what ${outcome.path} started cannot be ended` };
    case "stopped":
      return { kind: "stopped", released: false };
    case "nothing":
    case "unable":
      touchLastCheck(home.state);
      return undefined;
  }
}

/** A holder that is past every bound is refused like a stale one: it is looked at by a person. */
function observeRefusal(
  { home: { state }, environment }: WatcherSetup,
  holder: Pid | undefined,
): Refusal {
  const beacon = observeBeacon(state);
  return judgeRefusal({
    holder,
    beatAgeSeconds: beacon.kind === "beat" ? beacon.ageSeconds : undefined,
    lockAgeSeconds: ageSeconds(`${state}/${WATCH_LOCK_NAME}`),
    staleGraceSeconds: staleGraceSeconds(environment),
  });
}

/** Seconds after which a live holder counts as stale for whoever wants to watch. */
function staleGraceSeconds(environment: Environment): number {
  const text = environment.get("FM_WATCHER_STALE_GRACE") ?? environment.get("FM_GUARD_GRACE");
  return numberSetting(text, "integer", pollGraceSeconds(graceVariables(environment))).value;
}

async function recordOwnership(setup: WatcherSetup, lock: HeldLock): Promise<void> {
  lock.write("fm-home", setup.home.home);
  lock.write("watcher-path", setup.home.watcherPath);
  const own = await setup.processes.identity(ownPid());
  // Without an identity the watcher still runs; every strict reader then calls it unhealthy.
  lock.write("pid-identity", own.kind === "known" ? own.identity : "");
}
