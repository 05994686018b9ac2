/** What a session is told about supervision when it starts, and the one line that repairs it. */

import type { HarnessName } from "./names.ts";
import { repairLine, type RepairSituation } from "./repair_line.ts";

/** What the texts depend on. */
export interface InstructionSituation extends RepairSituation {
  /** Whether the session does not hold the home's session lock. */
  readonly readOnly: boolean;
  /** Whether wakes wait in the queue; they come before any repair. */
  readonly queuePending: boolean;
}

const READ_ONLY_REPAIR =
  "watcher repair belongs to the session holding the fleet lock; do not drain, arm or repair " +
  "supervision from this session.";

const DRAIN_PREFIX = "After draining queued wakes, ";

/** The line that tells a session how its supervision is repaired, without a newline. */
export function repairInstruction(situation: InstructionSituation): string {
  if (situation.readOnly) return READ_ONLY_REPAIR;
  if (situation.mode !== "off") return repairLine(situation);
  const prefix = situation.queuePending ? DRAIN_PREFIX : "";
  return `${prefix}${repairLine(situation)}`;
}

const RULE = "=".repeat(80);

const REARMED = "the owner of supervision arms the next watcher by itself; handle the wake, do " +
  "not arm one.";

/** What follows a wake that was handled. */
const ORDINARY_WAKE: Readonly<Partial<Record<HarnessName, string>>> = {
  "claude": REARMED,
  "pi": REARMED,
  "pi-signed": REARMED,
  "omp": REARMED,
  "opencode": REARMED,
  "cursor": REARMED,
  "codex": "handle the wake, then take the next foreground checkpoint.",
  "grok": "handle the wake, then arm again with one tracked background task.",
};

/** The block that a session reads when it starts, as lines. */
export function instructionBlock(situation: InstructionSituation): readonly string[] {
  const { harness, readOnly, relaySettings } = situation;
  return [
    RULE,
    `SUPERVISION OPERATING INSTRUCTIONS - primary harness: ${ownName(harness)}`,
    RULE,
    "Current state:",
    `- Lock: ${readOnly ? "read-only" : "held"}`,
    modeLine(situation.mode),
    `- X mode: ${relaySettings === undefined ? "inactive" : `active (${relaySettings})`}`,
    ...(readOnly ? READ_ONLY_BLOCK : protocol(situation)),
  ];
}

/** A harness without words of its own is any other one. */
function ownName(harness: HarnessName): HarnessName {
  return ORDINARY_WAKE[harness] === undefined ? "unknown" : harness;
}

function modeLine(mode: RepairSituation["mode"]): string {
  switch (mode) {
    case "off":
      return "- Away/quiet mode: inactive.";
    case "away":
      return "- Away mode: active";
    case "quiet":
      return "- Quiet mode: active";
  }
}

const READ_ONLY_BLOCK: readonly string[] = [
  "",
  "This session does not hold the home's lock. Draining wakes, arming a watcher, spawning tasks and",
  "taking checkpoints are not for it. Report what you see; an idle turn is the right outcome.",
];

function protocol(situation: InstructionSituation): readonly string[] {
  const wake = ORDINARY_WAKE[situation.harness] ??
    "handle the wake, then follow the session-start block for this harness.";
  return [
    `- Ordinary wake: ${wake}`,
    `- When supervision is missing: ${repairInstruction(situation)}`,
  ];
}
