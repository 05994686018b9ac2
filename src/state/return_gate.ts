/** `.afk-return-catchup`: what has to be caught up with before an operator is back. */

import { nowSeconds } from "../platform/clock.ts";
import { readText } from "../platform/file_text.ts";
import { ownKind } from "../platform/path_kind.ts";
import { replaceFile } from "./replace_file.ts";

/** Name of the gate. */
export const RETURN_GATE_NAME = ".afk-return-catchup";

const SCHEMA = "fm-afk-return.v1";

/** Something that happened while nobody was there. */
export interface Evidence {
  readonly kind: "wake" | "wedge" | "escalation" | "lifecycle";
  readonly text: string;
}

/** A task that cannot go on by itself. */
export interface Blocker {
  readonly task: string;
  readonly key: string;
  readonly summary: string;
}

/** The gate's content. */
export interface ReturnGate {
  /** Seconds since the epoch. */
  readonly started: number;
  readonly phase: "stopping-and-draining" | "blocked";
  readonly evidence: readonly Evidence[];
  readonly blockers: readonly Blocker[];
}

/** Whether the gate is there, readable or not. */
export function gateExists(state: string): boolean {
  return ownKind(`${state}/${RETURN_GATE_NAME}`) !== "absent";
}

/** Reads the gate; what cannot be read holds nothing. */
export function readGate(state: string): ReturnGate {
  const content = readText(`${state}/${RETURN_GATE_NAME}`);
  const rows = content.kind === "text"
    ? content.text.split("\n").map((line) => line.split("\t"))
    : [];
  const started = rows.find(([name]) => name === "started")?.[1] ?? "";
  return {
    started: /^[0-9]{1,15}$/.test(started) ? Number(started) : nowSeconds(),
    phase: rows.some(([name, value]) => name === "phase" && value === "blocked")
      ? "blocked"
      : "stopping-and-draining",
    evidence: rows.flatMap(([name, kind, text = ""]) =>
      name === "evidence" && isEvidenceKind(kind) ? [{ kind, text }] : []
    ),
    blockers: rows.flatMap(([name, task = "", key = "", summary = ""]) =>
      name === "blocker" ? [{ task, key, summary }] : []
    ),
  };
}

const EVIDENCE_KINDS: readonly string[] = ["wake", "wedge", "escalation", "lifecycle"];

function isEvidenceKind(kind: string | undefined): kind is Evidence["kind"] {
  return kind !== undefined && EVIDENCE_KINDS.includes(kind);
}

/** Writes the gate; equal lines appear once. Throws what the operating system reports. */
export function writeGate(state: string, gate: ReturnGate): void {
  const rows = [
    ["schema", SCHEMA],
    ["started", String(gate.started)],
    ["phase", gate.phase],
    ...gate.evidence.map(({ kind, text }) => ["evidence", kind, text]),
    ...gate.blockers.map(({ task, key, summary }) => ["blocker", task, key, summary]),
  ];
  const lines = rows.map((row) => row.map(oneField).join("\t"));
  replaceFile(`${state}/${RETURN_GATE_NAME}`, `${[...new Set(lines)].join("\n")}\n`);
}

function oneField(text: string): string {
  return text.replaceAll(/[\t\r\n]/g, " ");
}
