/** The watcher: holds the watch lock, beats, tells one thing, and leaves a trace when it goes. */

import { armCheck, publishDowntime, reopenRecovery } from "../act/recovery.ts";
import type { Refusal } from "../decide/watcher_takeover.ts";
import type { Home } from "../observe/home.ts";
import { Bell } from "../platform/bell.ts";
import type { Environment } from "../platform/environment.ts";
import { targetKind } from "../platform/path_kind.ts";
import type { Pid } from "../platform/pid.ts";
import type { ProcessIdentity } from "../platform/process_identity.ts";
import { ownPid, type Processes } from "../platform/processes.ts";
import type { HeldLock } from "../state/lock.ts";
import { readRecoveryMarker } from "../state/recovery_marker.ts";
import { queuePaths } from "../state/wake_queue.ts";
import { recordDelivery } from "./deliveries.ts";
import { SignalReports } from "./signal_reports.ts";
import { askCrewProgram } from "./crew_program.ts";
import { takeWatchLock } from "./takeover.ts";
import { touch } from "./touch.ts";
import { type CycleEnd, noteWake, runCycles } from "./watch_cycle.ts";
import { type WatcherSettings, watcherSettings } from "./watcher_settings.ts";

/** How a watcher's life ended, or why it never began. */
export type WatcherEnd =
  | { readonly kind: "refused"; readonly refusal: Refusal; readonly survivedTerm: boolean }
  /** Somebody else took the lock. */
  | { readonly kind: "lost-lock" }
  /** The home was removed while it was watched. */
  | { readonly kind: "home-gone"; readonly what: string }
  /** Something needs a handling turn, and whoever listens was told. */
  | { readonly kind: "wake"; readonly reason: string; readonly released: boolean }
  /** Something needs a handling turn, but nobody could be told; it stays queued. */
  | { readonly kind: "not-told"; readonly released: boolean }
  /** A step could not be done safely. */
  | { readonly kind: "failed"; readonly because: string; readonly released: boolean }
  /** Asked to stop. */
  | { readonly kind: "stopped"; readonly released: boolean };

/** What a watcher needs. */
export interface WatcherSetup {
  readonly home: Home;
  readonly environment: Environment;
  /** Looks at processes afresh. */
  readonly look: () => Processes;
  /** Resolves when the watcher is to stop. */
  readonly stop: Promise<void>;
  /** Called once the lock is held and the first beat was given. */
  readonly started: (start: WatcherStart) => void;
  /** Tells a wake to whoever listens; `false` when that failed. */
  readonly tell: (reason: string) => Promise<boolean>;
}

/** How a watcher came to its lock. */
export interface WatcherStart {
  /** A stalled holder that was asked to end, its age then, and the bound it had passed. */
  readonly replaced:
    | { readonly pid: Pid; readonly ageSeconds: number; readonly boundSeconds: number }
    | undefined;
}

/** The one wake that has no row of its own: a stretch of downtime is announced. */
export const RESURFACE_REASON = "check: rearm-resurface";

/** Watches until something is to be told, until it is told to stop, or until it no longer may. */
export async function runWatcher(setup: WatcherSetup): Promise<WatcherEnd> {
  const settings = watcherSettings(setup.environment);
  const takeover = await takeWatchLock({ home: setup.home, settings, look: setup.look });
  if (takeover.kind === "refused") return takeover;
  const { lock, recovered, replaced } = takeover;
  const start = await recoverAtStart(setup, settings, recovered);
  if (start.kind === "failed") {
    // The dead pid in the lock is the evidence that the next start recovers from.
    lock.abandon();
    return { kind: "failed", because: start.because, released: false };
  }
  const own = await recordOwnership(setup, lock);
  const watch: Watch = { setup, settings, lock, own, recoveryPending: start.pending };
  const boundSeconds = settings.stallBoundSeconds;
  const end = await watchOver(
    watch,
    { replaced: replaced === undefined ? undefined : { ...replaced, boundSeconds } },
  );
  return await conclude(watch, end);
}

interface Watch {
  readonly setup: WatcherSetup;
  readonly settings: WatcherSettings;
  readonly lock: HeldLock;
  /** Own identity; `undefined` when it cannot be told. */
  readonly own: ProcessIdentity | undefined;
  readonly recoveryPending: boolean;
}

type StartRecovery =
  | { readonly kind: "ready"; readonly pending: boolean }
  | { readonly kind: "failed"; readonly because: string };

/** What the last watcher left behind: whether a stretch of downtime has to be announced first. */
async function recoverAtStart(
  { home, environment }: WatcherSetup,
  settings: WatcherSettings,
  recovered: boolean,
): Promise<StartRecovery> {
  const paths = queuePaths(home.state, environment);
  if (!settings.handlingSuccessor && !await reopenRecovery(paths)) {
    return failedStart("recovery state could not be reopened safely");
  }
  const answer = await armCheck(paths);
  if (answer === "failed") return failedStart("recovery state could not be consumed safely");
  const pending = !settings.handlingSuccessor && (recovered || answer === "recover");
  return { kind: "ready", pending };
}

function failedStart(what: string): StartRecovery {
  return { kind: "failed", because: `${what}; retaining stale lock evidence` };
}

/** Without an identity the watcher still runs; every strict reader then calls it unhealthy. */
async function recordOwnership(
  { home, look }: WatcherSetup,
  lock: HeldLock,
): Promise<ProcessIdentity | undefined> {
  lock.write("fm-home", home.home);
  lock.write("watcher-path", home.watcherPath);
  const own = await look().identity(ownPid());
  lock.write("pid-identity", own.kind === "known" ? own.identity : "");
  const heartbeat = `${home.state}/.last-heartbeat`;
  if (targetKind(heartbeat) === "absent") touch(heartbeat);
  return own.kind === "known" ? own.identity : undefined;
}

async function watchOver(watch: Watch, start: WatcherStart): Promise<CycleEnd> {
  const { setup, settings, lock } = watch;
  const { home, environment, stop } = setup;
  const bell = new Bell();
  let stopping = false;
  void stop.then(() => {
    stopping = true;
    bell.ring();
  });
  using _reports = new SignalReports(home.state, bell);
  try {
    return await runCycles({
      home,
      environment,
      settings,
      paths: queuePaths(home.state, environment),
      lock,
      stop,
      stopping: () => stopping,
      bell,
      askCrew: askCrewProgram(home, environment, settings.checkTimeoutSeconds),
      recoveryPending: watch.recoveryPending,
      announce: () => setup.started(start),
    });
  } catch (error) {
    const because = error instanceof Error ? error.message : String(error);
    return { kind: "failed", because };
  }
}

/** Tells what there is to tell, records the downtime, and lets the lock go, in this order. */
async function conclude(watch: Watch, end: CycleEnd): Promise<WatcherEnd> {
  const { lock } = watch;
  if (end.kind === "lost-lock") {
    lock.abandon();
    return end;
  }
  const told = end.kind === "wake" && await tell(watch, end.reason);
  const announced = told && end.kind === "wake" && end.reason === RESURFACE_REASON;
  const released = await letGo(watch, announced);
  if (end.kind === "home-gone") return end;
  if (end.kind !== "wake") return { ...end, released };
  return told ? { ...end, released } : { kind: "not-told", released };
}

async function tell(watch: Watch, reason: string): Promise<boolean> {
  const { setup: { home, environment, tell: deliver }, own } = watch;
  noteWake(home.state, reason);
  if (!await deliver(reason)) return false;
  if (own !== undefined) {
    await recordDelivery(home.state, environment, { pid: Deno.pid, identity: own }, reason);
  }
  return true;
}

/**
 * Records the downtime before the lock goes, so that no reader sees neither. An announced stretch is
 * recorded already and stays announced. What cannot be recorded keeps the lock as its evidence.
 */
async function letGo(watch: Watch, announced: boolean): Promise<boolean> {
  const { setup: { home }, settings, lock } = watch;
  const recorded = announced
    ? readRecoveryMarker(home.state).kind === "valid"
    : await publishDowntime(home.state, settings.cleanupLimitSeconds * 1000);
  if (recorded) lock.release();
  else lock.abandon();
  return recorded;
}
