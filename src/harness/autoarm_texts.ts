/** What Claude sessions are told by the auto-arm. Other programs look for the quoted phrases. */

import { printable, printableWithin } from "../platform/printable.ts";
import type { HomeCommands } from "./commands.ts";

/** Longest line of others that is shown; Claude cuts a hook's output at 10,000 characters. */
const LINE_LIMIT = 600;

/** The line that keeps a session from starting a second supervision by hand. */
const NO_MANUAL_ARM = "Do not launch a manual background arm; end the turn and let the Stop hook " +
  "retry, or diagnose its registration and the watcher's startup.";

/** A wake, for the session that has to handle it. */
export function rewakeText(wakes: readonly string[], commands: HomeCommands): string {
  return lines([
    "firstmate watcher wake - one supervision event needs a handling turn now.",
    ...wakes.map(cut),
    `Handle it: run ${commands.drain}, and when the work is done acknowledge with the ` +
    "WAKE_ACK_REQUIRED command it prints (--ack-through). An unacknowledged wake stays durable. " +
    `This hook owns continuity: do NOT run ${commands.arm}.`,
  ]);
}

/** The end of a park that would outlive the time the host gives its hook. */
export function rearmText(commands: HomeCommands): string {
  return lines([
    "firstmate watcher wake - the hook reached its time limit and needs one turn to arm again.",
    `Nothing else happened: run ${commands.drain} to confirm, acknowledge with the ` +
    "WAKE_ACK_REQUIRED command (--ack-through) if it prints one, and end the turn. " +
    `This hook owns continuity: do NOT run ${commands.arm}.`,
  ]);
}

/** The first failure of an episode. */
export function firstFailureText(
  attempts: number,
  evidence: readonly string[],
  ledger: string,
): string {
  return lines([
    "firstmate watcher auto-arm FAILED - the automatic supervision mechanism is broken: " +
    `after ${attempts} bounded attempts no live watcher with a fresh beacon was verified.`,
    ...evidenceLines(evidence),
    `Episode state is recorded in ${ledger}`,
    NO_MANUAL_ARM,
  ]);
}

/** A later failure of the same episode. */
export function laterFailureText(evidence: readonly string[], ledger: string): string {
  return lines([
    "firstmate watcher auto-arm STILL FAILING - no live watcher with a fresh beacon was verified.",
    ...evidenceLines(evidence),
    `Episode state is recorded in ${ledger} (outcome=failed-suppressed)`,
  ]);
}

/** A recovery whose episode could not be closed. */
export function heldOpenText(paths: EpisodePaths): string {
  return lines([
    "firstmate watcher auto-arm HELD THIS TURN OPEN - a live watcher was verified, but the failure " +
    "episode could not be closed.",
    `Ledger: ${paths.ledger} (outcome=failed-suppressed)`,
    `Close it by making these removable: ${paths.notice}, ${paths.alarm}; lock: ${paths.budgetLock}`,
  ]);
}

/** The files of an episode, as paths. */
export interface EpisodePaths {
  readonly ledger: string;
  readonly notice: string;
  readonly alarm: string;
  readonly budgetLock: string;
}

/** A firing that was told to end. */
export function interruptedText(signal: "HUP" | "TERM" | "INT"): string {
  return lines([
    `firstmate watcher auto-arm INTERRUPTED by ${signal} - this home is not supervised any more.`,
    NO_MANUAL_ARM,
  ]);
}

function evidenceLines(evidence: readonly string[]): readonly string[] {
  return evidence.length > 0
    ? evidence.map(cut)
    : ["The arm produced no diagnostic output of its own."];
}

function cut(line: string): string {
  return printableWithin(line, LINE_LIMIT);
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => `${printable(text)}\n`).join("");
}
