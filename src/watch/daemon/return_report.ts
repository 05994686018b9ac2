/** What a returning operator has to know: what nobody was told, and what tasks wait for. */

import { openDecisions } from "../../decide/open_decisions.ts";
import { errorMessage, lineOf, readText } from "../../platform/file_text.ts";
import { ownKind } from "../../platform/path_kind.ts";
import { readEscalations } from "../../state/escalations.ts";
import type { Blocker, Evidence } from "../../state/return_gate.ts";
import { listTaskRecords } from "../../state/task_record.ts";
import { WEDGED_NAME } from "./delivery.ts";

/** What the daemon had not delivered, and what kept it from being known. Never throws. */
export function undelivered(
  state: string,
): { readonly evidence: readonly Evidence[]; readonly failures: readonly Evidence[] } {
  const marker = readText(`${state}/${WEDGED_NAME}`);
  const wedge: readonly Evidence[] = marker.kind === "text"
    ? [{ kind: "wedge", text: lineOf(marker.text, 1) }]
    : [];
  const buffer = readEscalations(state);
  if (buffer.kind === "unreadable") {
    return { evidence: wedge, failures: [failure(`the digest cannot be read: ${buffer.because}`)] };
  }
  const items = buffer.items.map((text) => ({ kind: "escalation", text }) as const);
  return { evidence: [...wedge, ...items], failures: [] };
}

/** What tasks in flight wait for, and the logs that do not tell. Never throws. */
export function openBlockers(
  state: string,
): { readonly blockers: readonly Blocker[]; readonly failures: readonly Evidence[] } {
  const blockers: Blocker[] = [];
  const failures: Evidence[] = [];
  try {
    for (const { id: task } of listTaskRecords(state)) {
      const log = readLog(state, task);
      if (log.kind === "unreadable") {
        const because = `${task}.status cannot be read: ${log.because}`;
        failures.push(failure(`${because}; whether ${task} waits for a decision is not known`));
        continue;
      }
      for (const { verb, key, summary } of openDecisions(log.text)) {
        if (verb === "blocked") blockers.push({ task, key, summary });
      }
    }
  } catch (error) {
    failures.push(failure(`the tasks cannot be listed: ${errorMessage(error)}`));
  }
  return { blockers, failures };
}

type Log =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "unreadable"; readonly because: string };

/** A link's target is not the task's own log; one that is missing says nothing. */
function readLog(state: string, task: string): Log {
  const path = `${state}/${task}.status`;
  if (ownKind(path) === "link") return { kind: "unreadable", because: "it is a link" };
  const content = readText(path, Infinity);
  return content.kind === "absent" ? { kind: "text", text: "" } : content;
}

function failure(text: string): Evidence {
  return { kind: "lifecycle", text };
}
