/** One cycle of a watcher, as a table of steps: each goes on, or ends the watcher's life. */

import { type ArmCheck, armCheck } from "../act/recovery.ts";
import { appendWake } from "../act/wake_append.ts";
import { heartbeatSeconds } from "../decide/heartbeat.ts";
import { judgeSpan } from "../decide/task_report.ts";
import { observeAwayMode } from "../observe/daemon.ts";
import type { Home } from "../observe/home.ts";
import type { Bell } from "../platform/bell.ts";
import type { Environment } from "../platform/environment.ts";
import { errorMessage } from "../platform/file_text.ts";
import { targetKind } from "../platform/path_kind.ts";
import type { HeldLock } from "../state/lock.ts";
import { appendLogLine, logTime } from "../state/log_file.ts";
import type { QueuePaths } from "../state/wake_queue.ts";
import type { Beat } from "./beat.ts";
import { dueAgeSeconds, isSweepDue, LAST_CHECK_NAME, touchLastCheck } from "./checks/cadence.ts";
import { sweepChecks, type SweepWake } from "./checks/sweep.ts";
import { type ClockWatch, shiftTimes } from "./clock_watch.ts";
import type { EventWait } from "./event_wait.ts";
import { readStreak, writeStreak } from "./heartbeat_streak.ts";
import { repairSources } from "./procevent/liveness_repair.ts";
import { takeQueuedResults } from "./procevent/queued_results.ts";
import {
  type AskCrew,
  judgeSignals,
  markQueuedSignals,
  markSignals,
  mergeSignals,
  type PendingSignal,
  pendingSignals,
  withSpans,
} from "./signal_scan.ts";
import { markSurfaced, statusLogs } from "./status_logs.ts";
import { touch } from "./touch.ts";
import type { WatcherSettings } from "./watcher_settings.ts";

/** What every step works with. */
export interface CycleContext {
  readonly home: Home;
  readonly environment: Environment;
  readonly settings: WatcherSettings;
  readonly paths: QueuePaths;
  readonly lock: HeldLock;
  readonly beat: Beat;
  /** Resolves when the watcher is to stop; `stopping` tells the same between two steps. */
  readonly stop: Promise<void>;
  readonly stopping: () => boolean;
  /** Rung by a stop and by every notice of change. */
  readonly bell: Bell;
  readonly eventWait: EventWait | undefined;
  readonly clock: ClockWatch;
  readonly askCrew: AskCrew;
  /** Whether a stretch of downtime has to be announced. */
  recoveryPending: boolean;
  /** Called after the first beat. */
  announce: (() => void) | undefined;
}

/** How a cycle ended the watcher's life. */
export type CycleEnd =
  | { readonly kind: "lost-lock" }
  | { readonly kind: "home-gone"; readonly what: string }
  | {
    readonly kind: "wake";
    readonly reason: string;
    /** What has to be told, exactly once, whether the reason was. */
    readonly settle?: (line: "written" | "not written") => void;
  }
  | { readonly kind: "failed"; readonly because: string }
  | { readonly kind: "stopped" };

/** Name of the file whose modification time is that of the last heartbeat. */
export const LAST_HEARTBEAT_NAME = ".last-heartbeat";

/** The one wake that has no row of its own: a stretch of downtime is announced. */
export const RESURFACE_REASON = "check: rearm-resurface";

type Step = (context: CycleContext) => Promise<CycleEnd | undefined> | CycleEnd | undefined;

/** The steps in their order. Checks come before signals, so that a chatty task cannot starve them. */
const CYCLE: readonly Step[] = [
  stillOurs,
  homeThere,
  beat,
  repairRunners,
  queuedResults,
  announceRecovery,
  sweep,
  signals,
  heartbeat,
  beat,
  terminalWait,
];

/** Runs cycles until one ends the watcher's life; whatever goes wrong in one does, too. */
export async function runCycles(context: CycleContext): Promise<CycleEnd> {
  try {
    while (true) {
      for (const step of CYCLE) {
        const end = await step(context);
        if (end !== undefined) return end;
        if (context.stopping()) return { kind: "stopped" };
      }
    }
  } catch (error) {
    // A home that goes away in the middle of a step makes that step fail.
    return homeThere(context) ?? { kind: "failed", because: errorMessage(error) };
  }
}

/** A lock that went with its home was not taken by anybody. */
function stillOurs(context: CycleContext): CycleEnd | undefined {
  return context.lock.isOurs() ? undefined : homeThere(context) ?? { kind: "lost-lock" };
}

/** A home that was removed is never made again. */
function homeThere({ home }: CycleContext): CycleEnd | undefined {
  const missing = [home.home, home.root, home.state]
    .find((path) => targetKind(path) !== "directory");
  return missing === undefined ? undefined : { kind: "home-gone", what: missing };
}

/** Only the loop itself beats: a stuck loop has to look stuck. */
function beat(context: CycleContext): undefined {
  context.beat.beat();
  context.announce?.();
  context.announce = undefined;
}

async function repairRunners({ home, environment, beat }: CycleContext): Promise<undefined> {
  await repairSources(home, environment);
  beat.tick();
}

async function queuedResults({ paths }: CycleContext): Promise<CycleEnd | undefined> {
  const results = await takeQueuedResults(paths);
  return results.kind === "wake" ? results : undefined;
}

async function announceRecovery(context: CycleContext): Promise<CycleEnd | undefined> {
  if (context.settings.handlingSuccessor) return undefined;
  if (!context.recoveryPending) {
    const answer = await untilAnswered(context);
    if (answer === "stopped") return { kind: "stopped" };
    if (answer === "failed") {
      return { kind: "failed", because: "recovery state could not be consumed safely" };
    }
    context.recoveryPending = answer === "recover";
  }
  if (!context.recoveryPending) return undefined;
  markQueuedSignals(context.home.state, context.paths);
  return { kind: "wake", reason: RESURFACE_REASON };
}

/** Times that the recovery state is asked for while its locks are busy, and milliseconds for each. */
const ARM_CHECKS = 20;
const ARM_CHECK_LIMIT_MS = 500;

/** A lock that stays busy must not keep a stop waiting. */
async function untilAnswered(
  { paths, stopping, beat }: CycleContext,
): Promise<ArmCheck | "stopped"> {
  for (let tries = 1; !stopping(); tries++) {
    const answer = await armCheck(paths, ARM_CHECK_LIMIT_MS);
    if (answer !== "failed" || tries === ARM_CHECKS) return answer;
    beat.tick();
  }
  return "stopped";
}

async function sweep(context: CycleContext): Promise<CycleEnd | undefined> {
  const { home, settings, stop, beat } = context;
  if (!isSweepDue(home.state, settings.checks)) return undefined;
  const outcome = await sweepChecks({
    home,
    timeoutSeconds: settings.checks.timeoutSeconds,
    tick: () => beat.tick(),
    stop,
  });
  switch (outcome.kind) {
    case "output":
    case "rejected":
      return await wakeOfSweep(context, outcome);
    case "group-not-gone":
      return { kind: "failed", because: `what ${outcome.path} started cannot be ended` };
    case "stopped":
      return { kind: "stopped" };
    case "unable":
      triage(context, `checks could not be run: ${outcome.because}`);
      touchLastCheck(home.state);
      return undefined;
    case "nothing":
      touchLastCheck(home.state);
      return undefined;
  }
}

async function wakeOfSweep(context: CycleContext, wake: SweepWake): Promise<CycleEnd> {
  if (!await appendWake(context.paths, wake.row)) return notQueued();
  touchLastCheck(context.home.state);
  return { kind: "wake", reason: wake.reason };
}

async function signals(context: CycleContext): Promise<CycleEnd | undefined> {
  const { home: { state }, settings } = context;
  const first = pendingSignals(state);
  if (first.length === 0) return undefined;
  await linger(context);
  if (context.stopping()) return { kind: "stopped" };
  const pending = withSpans(state, mergeSignals(first, pendingSignals(state)));
  const reason = `signal: ${pending.map(({ file }) => file.path).join(" ")}`;
  const verdict = await judgeSignals(state, pending, settings.reports, context.askCrew);
  if (verdict.kind === "benign" && absorb(context, pending, reason)) return undefined;
  const decisions = verdict.kind === "actionable" ? verdict.decisions : new Set<string>();
  return await wakeOfSignals(context, pending, reason, decisions);
}

/** A last status line and the same turn's end mark are one event: waits for the later one. */
async function linger({ settings, bell, stopping, beat }: CycleContext): Promise<void> {
  const until = performance.now() + settings.signalGraceSeconds * 1000;
  while (!stopping() && performance.now() < until) {
    await bell.within(Math.min(until - performance.now(), beat.tickMs));
    beat.tick();
  }
}

/** Marks benign signals as seen; a marker that cannot be written makes them a wake after all. */
function absorb(context: CycleContext, pending: readonly PendingSignal[], reason: string): boolean {
  try {
    markSignals(context.home.state, pending);
  } catch {
    return false;
  }
  triage(context, `absorbed benign ${reason}`);
  return true;
}

async function wakeOfSignals(
  context: CycleContext,
  pending: readonly PendingSignal[],
  reason: string,
  decisions: ReadonlySet<string>,
): Promise<CycleEnd> {
  for (const { file } of pending) {
    const payload = decisions.has(file.name)
      ? reason.replace(/^signal:/, "needs-decision:")
      : reason;
    const queued = await appendWake(context.paths, { kind: "signal", key: file.name, payload });
    if (!queued) return notQueued();
  }
  markSignals(context.home.state, pending);
  return { kind: "wake", reason };
}

async function heartbeat(context: CycleContext): Promise<CycleEnd | undefined> {
  const { home: { state }, settings } = context;
  const streak = readStreak(state);
  const { heartbeatSeconds: base, heartbeatCapSeconds: cap } = settings;
  const path = `${state}/${LAST_HEARTBEAT_NAME}`;
  if (dueAgeSeconds(path) < heartbeatSeconds(base, cap, streak)) return undefined;
  const away = observeAwayMode(state) !== "off";
  const logs = away ? [] : statusLogs(state);
  const due = away ||
    logs.some(({ unseen }) =>
      unseen === undefined || judgeSpan(unseen, settings.reports).relevant.length > 0
    );
  if (due) {
    const row = { kind: "heartbeat", key: "heartbeat", payload: "heartbeat" } as const;
    if (!await appendWake(context.paths, row)) return notQueued();
  }
  touch(path);
  markSurfaced(state, logs);
  if (due) return { kind: "wake", reason: "heartbeat" };
  writeStreak(state, streak + 1);
  triage(context, "absorbed heartbeat (no captain-relevant change)");
  return undefined;
}

/**
 * Waits for the poll, or for something that shortens it.
 *
 * In short stretches, since a poll that began before the machine slept goes on for its rest after it:
 * the first look at the clocks ends it, and the next cycle beats.
 */
async function terminalWait(context: CycleContext): Promise<undefined> {
  const { settings, bell, eventWait } = context;
  const waitMs = settings.pollSeconds * 1000;
  if (eventWait !== undefined) {
    await eventWait.within(waitMs);
    noteJump(context);
    return;
  }
  const until = performance.now() + waitMs;
  for (let leftMs = waitMs; leftMs > 0; leftMs = until - performance.now()) {
    if (await bell.within(Math.min(leftMs, CLOCK_LOOK_MS)) || noteJump(context)) return;
  }
}

/** Milliseconds between two looks at the clocks. */
const CLOCK_LOOK_MS = 5_000;

/** Whether the clock jumped; what is counted by it goes on from where it was. */
function noteJump(context: CycleContext): boolean {
  const { home: { state }, clock } = context;
  const seconds = clock.jumpSeconds();
  if (seconds === 0) return false;
  shiftTimes([LAST_CHECK_NAME, LAST_HEARTBEAT_NAME].map((name) => `${state}/${name}`), seconds);
  triage(context, `the clock moved by ${Math.round(seconds)}s while waiting`);
  return true;
}

function triage({ home, settings }: CycleContext, text: string): void {
  appendLogLine(`${home.state}/.watch-triage.log`, `[${logTime(new Date())}] ${text}`, {
    maximumBytes: settings.triageLogBytes,
    keptLines: TRIAGE_LINES,
  });
}

/** Lines of the log of absorbed wakes that stay when it is trimmed. */
const TRIAGE_LINES = 2_000;

function notQueued(): CycleEnd {
  return { kind: "failed", because: "a wake could not be queued; nothing was marked as reported" };
}
