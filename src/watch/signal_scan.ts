/** Signals of tasks: what changed, whether somebody has to see it, and how it is recorded. */

import { judgeSpan, provesWork, type ReportRules } from "../decide/task_report.ts";
import { observeAwayMode } from "../observe/daemon.ts";
import { readText } from "../platform/file_text.ts";
import { isOwnGrowth } from "../state/home_appends.ts";
import {
  isReported,
  markReported,
  readSignalFile,
  SIGNAL_SUFFIXES,
  type SignalFile,
  unjudgedPart,
} from "../state/signal_marker.ts";
import { type QueuePaths, readQueue } from "../state/wake_queue.ts";

/** A changed signal file with the part of it that nobody has judged yet. */
export interface PendingSignal {
  readonly file: SignalFile;
  /** The new part of a status log, empty for other files; `undefined` when it could not be read. */
  readonly span: string | undefined;
}

/** What pending signals come to. */
export type SignalVerdict =
  | {
    readonly kind: "actionable";
    /** Names of the files in which a decision is opened or held. */
    readonly decisions: ReadonlySet<string>;
  }
  | { readonly kind: "benign" };

/** Asks the program that knows a task's crew; `undefined` when there is none or it did not answer. */
export type AskCrew = (taskId: string) => Promise<string | undefined>;

/** Whether a file of that name carries signals; dot files never do. */
export function isSignalName(name: string): boolean {
  return !name.startsWith(".") && SIGNAL_SUFFIXES.some((suffix) => name.endsWith(suffix));
}

/** Files that differ from what was reported of them, status files first, by name. Writes nothing. */
export function pendingSignals(state: string): readonly SignalFile[] {
  const names = [...Deno.readDirSync(state)].map((entry) => entry.name)
    .filter((name) => isSignalName(name)).sort();
  return SIGNAL_SUFFIXES.flatMap((suffix) => names.filter((name) => name.endsWith(suffix)))
    .map((name) => readSignalFile(state, name))
    .filter((file) => file !== undefined)
    .filter((file) => !isReported(state, file) && !isOwnGrowth(state, file));
}

/** Two scans as one: first-seen order, newest signature. */
export function mergeSignals(
  earlier: readonly SignalFile[],
  later: readonly SignalFile[],
): readonly SignalFile[] {
  const merged = new Map(earlier.map((file) => [file.name, file]));
  for (const file of later) merged.set(file.name, file);
  return [...merged.values()];
}

/** Reads the part of each status log that nobody has judged. */
export function withSpans(state: string, files: readonly SignalFile[]): readonly PendingSignal[] {
  return files.map((file) => ({
    file,
    span: file.name.endsWith(".status") ? unjudgedPart(state, file, "signals") : "",
  }));
}

/**
 * Whether somebody has to see the signals.
 *
 * In away or quiet mode nothing is absorbed. Otherwise a relevant or unreadable line is enough, and
 * without one every named task has to be proven to be still working.
 */
export async function judgeSignals(
  state: string,
  pending: readonly PendingSignal[],
  rules: ReportRules,
  askCrew: AskCrew,
): Promise<SignalVerdict> {
  const reports = pending.map(({ file, span }) => ({
    file,
    report: span === undefined ? undefined : judgeSpan(span, rules),
  }));
  const decisions = new Set(
    reports.filter(({ report }) => report?.decision === true).map(({ file }) => file.name),
  );
  const seen = observeAwayMode(state) !== "off" || decisions.size > 0 ||
    reports.some(({ report }) => report === undefined || report.relevant.length > 0);
  if (seen || !await allWorking(state, pending, askCrew)) return { kind: "actionable", decisions };
  return { kind: "benign" };
}

async function allWorking(
  state: string,
  pending: readonly PendingSignal[],
  askCrew: AskCrew,
): Promise<boolean> {
  for (const task of tasksOf(pending)) {
    const reports = pending.some(({ file }) => file.name === `${task}.status`);
    if (reports && isSecondmate(state, task)) return false;
    const answer = await askCrew(task);
    if (answer === undefined || !provesWork(answer)) return false;
  }
  return pending.length > 0;
}

function tasksOf(pending: readonly PendingSignal[]): ReadonlySet<string> {
  return new Set(pending.map(({ file }) => file.name.replace(/\.(?:status|turn-ended)$/, "")));
}

/** A secondmate reports for a whole home of its own; its word is never absorbed. */
function isSecondmate(state: string, task: string): boolean {
  const content = readText(`${state}/${task}.meta`);
  return content.kind === "text" && content.text.split("\n").includes("kind=secondmate");
}

/**
 * Records all of them as reported, and as surfaced for heartbeats; what could not be read stays
 * unjudged. Throws when a marker cannot be written.
 */
export function markSignals(state: string, pending: readonly PendingSignal[]): void {
  for (const { file, span } of pending) {
    const judged = span !== undefined;
    markReported(state, file, { judged });
    if (file.name.endsWith(".status")) markReported(state, file, { judged, reader: "heartbeat" });
  }
}

/**
 * Records the files of queued signals as reported, as they are now: whoever is told of the queue looks
 * at them. A watcher that was killed between the row and its marker would tell it once more otherwise,
 * after the row was handled. What fails is told once more.
 */
export function markQueuedSignals(state: string, { queue }: QueuePaths): void {
  const found = readQueue(queue);
  if (found.kind === "unreadable") return;
  for (const row of found.rows) {
    if (!row.usable || row.kind !== "signal" || !isSignalName(row.key)) continue;
    const file = readSignalFile(state, row.key);
    if (file === undefined || isReported(state, file)) continue;
    try {
      markSignals(state, withSpans(state, [file]));
    } catch {
      // Its signal comes again.
    }
  }
}
