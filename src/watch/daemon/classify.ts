/** Wakes as the away daemon handles them: items go to the buffer, then the logs count as seen. */

import { decideWake, oneLine } from "../../decide/daemon_wake.ts";
import { judgeSpan, type ReportRules, verbOf } from "../../decide/task_report.ts";
import { readText } from "../../platform/file_text.ts";
import { appendEscalation } from "../../state/escalations.ts";
import {
  isKnownTo,
  markReported,
  readSignalFile,
  type SignalFile,
  unjudgedPart,
} from "../../state/signal_marker.ts";

/** What classifying works with. */
export interface ClassifySetup {
  readonly state: string;
  readonly skip: string;
  readonly reports: ReportRules;
}

/**
 * Handles one payload. Throws when its item could not be buffered or a log not be marked: the wake must
 * then stay queued, and handling it again does no harm.
 */
export function classifyWake(setup: ClassifySetup, payload: string): void {
  const { state, skip, reports } = setup;
  const decision = decideWake(payload, skip, state);
  switch (decision.kind) {
    case "silent":
      return;
    case "escalate":
      return appendEscalation(state, oneLine(decision.item));
    case "stale":
      if (isPaused(state, decision.tasks, reports)) return;
      return appendEscalation(state, oneLine(decision.item));
    case "status":
      for (const name of decision.names) lookAtLog(setup, name, "");
  }
}

/** Looks at every status log, for what nobody signalled. */
export function scanLogs(setup: ClassifySetup): void {
  const names = [...Deno.readDirSync(setup.state)].map(({ name }) => name)
    .filter((name) => name.endsWith(".status") && !name.startsWith(".")).sort();
  for (const name of names) lookAtLog(setup, name, " (catch-all scan)");
}

function lookAtLog({ state, reports }: ClassifySetup, name: string, note: string): void {
  const file = readSignalFile(state, name);
  if (file === undefined) return;
  const part = unjudgedPart(state, file, "daemon");
  const item = itemOf(state, file, part, reports);
  if (item !== undefined) appendEscalation(state, oneLine(`${item}${note}`));
  if (isKnownTo(state, file, "daemon")) return;
  markReported(state, file, { reader: "daemon", judged: part !== undefined });
}

function itemOf(
  state: string,
  file: SignalFile,
  part: string | undefined,
  reports: ReportRules,
): string | undefined {
  if (part === undefined) {
    return isKnownTo(state, file, "daemon") ? undefined : `${file.name}: unreadable status span`;
  }
  const { relevant } = judgeSpan(part, reports);
  return relevant.length === 0 ? undefined : `${file.name}: ${relevant.join(" | ")}`;
}

/** Whether the task of a pane says that it waits on purpose; the first name that has a log is its. */
function isPaused(state: string, tasks: readonly string[], { pauseVerb }: ReportRules): boolean {
  const content = tasks.map((task) => readText(`${state}/${task}.status`, Infinity))
    .find(({ kind }) => kind !== "absent");
  const last = content?.kind === "text"
    ? content.text.split("\n").findLast((line) => line.trim() !== "")
    : undefined;
  return last !== undefined && [pauseVerb, "captain-held"].includes(verbOf(last));
}
