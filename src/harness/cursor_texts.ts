/** What Cursor sessions are told by the park. Other programs look for the quoted phrases. */

import { printable, printableWithin } from "../platform/printable.ts";
import type { HomeCommands } from "./commands.ts";
import { operationalPrompt } from "./operational_prompt.ts";

/** Longest line of others that is shown, and how many of each kind. */
const LINE_LIMIT = 500;
const WAKE_LINES = 8;
const EVIDENCE_LINES = 4;

/** Characters of the guard's own words that are shown. */
const REASON_LIMIT = 4_500;

/** One object of a hook's answer that has Cursor submit `message`, with its newline. */
export function followupAnswer(message: string): string {
  return `${JSON.stringify({ followup_message: message })}\n`;
}

/** A wake, for the session that has to handle it. */
export function wakeFollowup(wakes: readonly string[], commands: HomeCommands): string {
  return operationalPrompt(
    "watcher",
    [
      "firstmate watcher wake - one supervision event needs a handling turn now.",
      ...wakes.slice(0, WAKE_LINES).map(cut),
      "",
      handling(commands),
    ].join("\n"),
  );
}

/** The end of a park that would outlive the time the host gives its hook. */
export function rearmFollowup(commands: HomeCommands): string {
  return operationalPrompt(
    "watcher",
    [
      "firstmate watcher wake - the stop hook reached its time limit and needs one turn to park again.",
      "",
      `Nothing else happened: run ${printable(commands.drain)} to confirm, acknowledge with the ` +
      "exact WAKE_ACK_REQUIRED command (--ack-through) if it prints one, and end the turn. " +
      `The stop hook owns supervision: do NOT run ${printable(commands.arm)}.`,
    ].join("\n"),
  );
}

/** What a repair follow-up is made of. */
export interface Repair {
  readonly attempts: number;
  readonly nag: number;
  readonly budget: number;
  /** Lines of the last arm. */
  readonly evidence: readonly string[];
  /** The guard's banner. */
  readonly reason: string;
}

/** A turn end that the guard would block. */
export function repairFollowup({ attempts, nag, budget, evidence, reason }: Repair): string {
  const arms = attempts === 1 ? "1 arm attempt" : `${attempts} arm attempts`;
  return operationalPrompt(
    "turn-end-guard",
    [
      `TURN WOULD END BLIND - after ${arms} no live watcher with a fresh beacon was verified ` +
      `(nag ${nag} of ${budget}).`,
      ...evidence.filter((line) => line.startsWith("watcher:")).slice(0, EVIDENCE_LINES).map(cut),
      "",
      within(reason.replace(/\n+$/, ""), REASON_LIMIT),
    ].join("\n"),
  );
}

/** The last word of a conversation that only goes round with itself. */
export function ceilingFollowup(count: number, commands: HomeCommands): string {
  return operationalPrompt(
    "turn-end-guard",
    [
      `CEILING REACHED - ${count} follow-ups in a row, and nobody has written in between: this is ` +
      "the last one, and this home is NOT supervised from here on.",
      "",
      "Wakes stay durable. Supervision resumes at the next turn end after the captain's next " +
      `message; run ${printable(commands.drain)} then, and acknowledge what was handled with the ` +
      "exact WAKE_ACK_REQUIRED command (--ack-through). Tell the captain so, and end the turn.",
    ].join("\n"),
  );
}

function handling(commands: HomeCommands): string {
  return `Handle it: first run ${printable(commands.drain)}; when the work is done, acknowledge ` +
    "with the exact WAKE_ACK_REQUIRED command it prints (--ack-through). An unacknowledged wake " +
    "stays durable. The stop hook owns supervision and parks again when the turn ends: " +
    `do NOT run ${printable(commands.arm)}.`;
}

function cut(line: string): string {
  return printableWithin(line, LINE_LIMIT);
}

function within(text: string, maximum: number): string {
  return text.length <= maximum ? text : `${text.slice(0, maximum - 1)}…`;
}
