/** `.claude-autoarm-epoch`: which auto-arm owns this home's supervision, and how the last one ended. */

import { lineOf } from "../platform/file_text.ts";
import type { ProcessIdentity } from "../platform/process_identity.ts";
import { replaceFile } from "./replace_file.ts";

/** Name of the ledger in a state directory. */
export const LEDGER_NAME = ".claude-autoarm-epoch";

/** The outcome of a claim that is still open. */
export const OPEN_OUTCOME = "arming";

/** How a claim ended. */
export type TerminalOutcome = "rewake" | "failed" | "failed-suppressed" | "clean" | "afk";

/** A ledger as claims read it; values are text because other builds may have written them. */
export interface LedgerEntry {
  /** Claim generation, digits. */
  readonly epoch: string;
  readonly ownerPid: string;
  readonly outcome: string;
  readonly ownerSessionId: string | undefined;
  readonly sessionPid: string | undefined;
  readonly recoveryGeneration: string | undefined;
  /** Line 2: identity of the owner; empty when it is missing. */
  readonly ownerIdentity: string;
  /** Line 3: identity of the session-lock holder at claim time; empty when it is missing. */
  readonly holderIdentity: string;
}

/** What the guard's own, looser reader makes of line 1. Empty when there is no such word. */
export interface LedgerGlance {
  readonly epoch: string;
  readonly outcome: string;
}

/**
 * The entry in the text of a ledger, or `undefined` for "no entry".
 *
 * The first line must end in a newline, because a writer that was cut short leaves none, and it must
 * carry `epoch` (digits), `owner_pid` and `outcome` as blank-separated `key=value` words; the first
 * word of a key wins.
 */
export function parseLedger(text: string): LedgerEntry | undefined {
  if (!text.includes("\n")) return undefined;
  const words = lineOf(text, 1).split(" ");
  const word = (key: string) =>
    words.find((candidate) => candidate.startsWith(`${key}=`) && candidate.length > key.length + 1)
      ?.slice(key.length + 1);
  const epoch = word("epoch");
  const ownerPid = word("owner_pid");
  const outcome = word("outcome");
  if (epoch === undefined || ownerPid === undefined || outcome === undefined) return undefined;
  if (!/^[0-9]+$/.test(epoch)) return undefined;
  return {
    epoch,
    ownerPid,
    outcome,
    ownerSessionId: word("owner_session_id"),
    sessionPid: word("session_pid"),
    recoveryGeneration: word("recovery_generation"),
    ownerIdentity: lineOf(text, 2),
    holderIdentity: lineOf(text, 3),
  };
}

/** The `epoch` word alone, as a number; 0 when it is missing or not digits. */
export function ledgerEpoch(text: string): number {
  if (!text.includes("\n")) return 0;
  const word = lineOf(text, 1).split(" ").find((candidate) => /^epoch=./.test(candidate));
  const digits = word?.slice("epoch=".length) ?? "";
  return /^[0-9]{1,15}$/.test(digits) ? Number(digits) : 0;
}

/**
 * Line 1 as the guard's accounting reads it.
 *
 * A second reader exists because the shell guard has one: homes that both write must be judged alike
 * even where a line is malformed.
 */
export function glanceLedger(text: string): LedgerGlance {
  const line = lineOf(text, 1);
  return {
    epoch: /^epoch=([0-9]+) /.exec(line)?.[1] ?? "",
    outcome: /.*outcome=([a-z][a-z-]*) /.exec(line)?.[1] ?? "",
  };
}

/** What a claim writes. */
export interface Claim {
  readonly epoch: number;
  readonly ownerPid: number;
  readonly ownerIdentity: ProcessIdentity;
  /** Seconds since the epoch. */
  readonly updatedAt: number;
  /** The conversation that owns the claim, with the identity of its lock holder. */
  readonly session: { readonly id: string; readonly holderIdentity: ProcessIdentity } | undefined;
}

/** The text of an open claim. */
export function formatClaim(claim: Claim): string {
  const { epoch, ownerPid, updatedAt, session } = claim;
  const words = [
    `epoch=${epoch}`,
    `owner_pid=${ownerPid}`,
    `outcome=${OPEN_OUTCOME}`,
    `updated_at=${updatedAt}`,
    ...(session === undefined ? [] : [`owner_session_id=${session.id}`]),
  ];
  const holder = session === undefined ? [] : [session.holderIdentity];
  return [words.join(" "), claim.ownerIdentity, ...holder, ""].join("\n");
}

/** What a claim's owner writes when it ends. */
export interface Commit {
  readonly entry: LedgerEntry;
  readonly outcome: TerminalOutcome;
  /** Seconds since the epoch. */
  readonly updatedAt: number;
  /** Only for `rewake`: what binds the handling turn to its session and recovery episode. */
  readonly handover:
    | { readonly sessionPid: string; readonly recoveryGeneration: string }
    | undefined;
}

/** The text of a finished claim: the owner's identity stays, the session's fields go. */
export function formatCommit(commit: Commit): string {
  const { entry, outcome, updatedAt, handover } = commit;
  const words = [
    `epoch=${entry.epoch}`,
    `owner_pid=${entry.ownerPid}`,
    `outcome=${outcome}`,
    `updated_at=${updatedAt}`,
    ...(handover === undefined ? [] : [
      `session_pid=${handover.sessionPid}`,
      `recovery_generation=${handover.recoveryGeneration}`,
    ]),
  ];
  const identity = entry.ownerIdentity === "" ? [] : [entry.ownerIdentity];
  return [words.join(" "), ...identity, ""].join("\n");
}

/** Whether a session id can stand in a ledger, whose words are separated by blanks. */
export function isLedgerWord(id: string): boolean {
  return /^[^\s\p{Cc}]+$/u.test(id);
}

/** Replaces the ledger of `state`; readers judge its age, so it is never edited in place. */
export function writeLedger(state: string, text: string): void {
  replaceFile(`${state}/${LEDGER_NAME}`, text);
}
