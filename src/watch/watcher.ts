/** The watcher: holds the watch lock, beats, tells one thing, and leaves a trace when it goes. */

import { armCheck, publishDowntime, reopenRecovery } from "../act/recovery.ts";
import { nextStreak } from "../decide/heartbeat.ts";
import type { Refusal, StalledHolder } from "../decide/watcher_refusal.ts";
import type { Home } from "../observe/home.ts";
import { Bell } from "../platform/bell.ts";
import { DirectoryChanges } from "../platform/directory_changes.ts";
import type { Environment } from "../platform/environment.ts";
import { targetKind } from "../platform/path_kind.ts";
import type { ProcessIdentity } from "../platform/process_identity.ts";
import { ownPid, type Processes } from "../platform/processes.ts";
import { removeAbandonedFiles } from "../state/abandoned_files.ts";
import type { HeldLock } from "../state/lock.ts";
import { readRecoveryMarker } from "../state/recovery_marker.ts";
import { queuePaths } from "../state/wake_queue.ts";
import { Beat } from "./beat.ts";
import { ClockWatch } from "./clock_watch.ts";
import { askCrewProgram } from "./crew_program.ts";
import { recordDelivery } from "./deliveries.ts";
import { EventWait } from "./event_wait.ts";
import { readStreak, writeStreak } from "./heartbeat_streak.ts";
import { confirmSeconds } from "./procevent/liveness_repair.ts";
import { isSignalName } from "./signal_scan.ts";
import { takeWatchLock } from "./takeover.ts";
import { touch } from "./touch.ts";
import { type CycleEnd, LAST_HEARTBEAT_NAME, RESURFACE_REASON, runCycles } from "./watch_cycle.ts";
import { type WatcherSettings, watcherSettings } from "./watcher_settings.ts";

/** How a watcher's life ended, or why it never began. */
export type WatcherEnd =
  /** A setting that it cannot run by; nothing was touched. */
  | { readonly kind: "bad-setting"; readonly because: string }
  | Refusal
  /** What the last watcher left could not be taken over; the lock stays as its evidence. */
  | { readonly kind: "unsafe-start"; readonly because: string }
  /** Somebody else took the lock. */
  | { readonly kind: "lost-lock" }
  /** The home was removed while it was watched. */
  | { readonly kind: "home-gone"; readonly what: string }
  /** Something needs a handling turn, and whoever listens was told. */
  | { readonly kind: "wake"; readonly reason: string; readonly trace: Trace }
  /** Something needs a handling turn, but nobody could be told; it stays queued. */
  | { readonly kind: "not-told"; readonly trace: Trace }
  /** A step could not be done safely. */
  | { readonly kind: "failed"; readonly because: string; readonly trace: Trace }
  /** Asked to stop. */
  | { readonly kind: "stopped"; readonly trace: Trace };

/**
 * What a watcher left behind. `recorded`: its downtime, and no lock. `lock`: its lock, from which the
 * next one will know, since the downtime could not be recorded.
 */
export type Trace = "recorded" | "lock";

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
  /** Tells a wake to whoever listens. */
  readonly tell: (reason: string) => Promise<"written" | "not written">;
}

/** How a watcher came to its lock. */
export interface WatcherStart {
  /** A stalled holder that was asked to end, and the bound in seconds that it had passed. */
  readonly replaced: (StalledHolder & { readonly boundSeconds: number }) | undefined;
}

/** Watches until something is to be told, until it is told to stop, or until it no longer may. */
export async function runWatcher(setup: WatcherSetup): Promise<WatcherEnd> {
  if (confirmSeconds(setup.environment) === undefined) {
    const because = "FM_PROCEVENT_LAUNCH_CONFIRM_SECONDS must be whole seconds from 1 to 600";
    return { kind: "bad-setting", because };
  }
  const settings = watcherSettings(setup.environment);
  const takeover = await takeWatchLock({ ...setup, settings });
  if (takeover.kind === "refused") return takeover.refusal;
  const { lock, recovered, replaced } = takeover;
  removeAbandonedFiles(setup.home.state);
  const recovery = await recoverAtStart(setup, settings, recovered);
  if (recovery.kind === "failed") {
    lock.abandon();
    return { kind: "unsafe-start", because: recovery.because };
  }
  const own = await recordOwnership(setup, lock);
  const watch: Watch = { setup, settings, lock, own, recoveryPending: recovery.pending };
  const boundSeconds = settings.stallBoundSeconds;
  const end = await watchOver(watch, {
    replaced: replaced === undefined ? undefined : { ...replaced, boundSeconds },
  });
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
    return { kind: "failed", because: "recovery state could not be reopened safely" };
  }
  const answer = await armCheck(paths);
  if (answer === "failed") {
    return { kind: "failed", because: "recovery state could not be consumed safely" };
  }
  const pending = !settings.handlingSuccessor && (recovered || answer === "recover");
  return { kind: "ready", pending };
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
  const heartbeat = `${home.state}/${LAST_HEARTBEAT_NAME}`;
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
  using _changes = new DirectoryChanges(home.state, bell, isWorthALook);
  const { eventProgram } = settings;
  return await runCycles({
    home,
    environment,
    settings,
    paths: queuePaths(home.state, environment),
    lock,
    beat: new Beat(home.state, settings.staleGraceSeconds),
    stop,
    stopping: () => stopping,
    bell,
    clock: new ClockWatch(),
    eventWait: eventProgram === undefined ? undefined : new EventWait(eventProgram, bell),
    askCrew: askCrewProgram(home, environment, settings.checks.timeoutSeconds),
    recoveryPending: watch.recoveryPending,
    announce: () => setup.started(start),
  });
}

/** Most dot files are our own, the beacon for one: looking at their changes would never end. */
function isWorthALook(name: string): boolean {
  return isSignalName(name) || name === ".wake-queue" ||
    (name.endsWith(".check.sh") && !name.startsWith("."));
}

/** Tells what there is to tell, records the downtime, and lets the lock go, in this order. */
async function conclude(watch: Watch, end: CycleEnd): Promise<WatcherEnd> {
  if (end.kind === "lost-lock") {
    watch.lock.abandon();
    return end;
  }
  if (end.kind !== "wake") {
    const trace = await letGo(watch, false);
    return end.kind === "home-gone" ? end : { ...end, trace };
  }
  const { reason } = end;
  const line = await tell(watch, reason);
  end.settle?.(line);
  const trace = await letGo(watch, line === "written" && reason === RESURFACE_REASON);
  return line === "written" ? { kind: "wake", reason, trace } : { kind: "not-told", trace };
}

async function tell(watch: Watch, reason: string): Promise<"written" | "not written"> {
  const { setup: { home, environment, tell: deliver }, own } = watch;
  writeStreak(home.state, nextStreak(readStreak(home.state), reason));
  const line = await deliver(reason);
  if (line === "written" && own !== undefined) {
    await recordDelivery(home.state, environment, { pid: Deno.pid, identity: own }, reason);
  }
  return line;
}

/**
 * Records the downtime before the lock goes, so that no reader sees neither. An announced stretch is
 * recorded already and stays announced. What cannot be recorded keeps the lock as its evidence.
 */
async function letGo(watch: Watch, announced: boolean): Promise<Trace> {
  const { setup: { home }, settings, lock } = watch;
  const recorded = announced
    ? readRecoveryMarker(home.state).kind === "valid"
    : await publishDowntime(home.state, settings.cleanupLimitSeconds * 1000);
  if (recorded) lock.release();
  else lock.abandon();
  return recorded ? "recorded" : "lock";
}
