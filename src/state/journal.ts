/** The decision journal: one line of JSON for every verdict, bounded, for people to read later. */

import { ownKind } from "../platform/path_kind.ts";
import { jsonText } from "../platform/printable.ts";

/** Name of the journal in a state directory. The rotated half carries the suffix `.1`. */
export const JOURNAL_NAME = ".turnguard-journal.jsonl";

/** Bytes after which the journal is rotated. */
export const JOURNAL_LIMIT_BYTES = 1024 * 1024;

/** Longest line that is kept; a longer one would be cut in the middle of its JSON. */
const LINE_LIMIT_BYTES = 16 * 1024;

/** One entry of the journal. */
export interface JournalEntry {
  /** When the verdict was given, ISO 8601 in UTC. */
  readonly time: string;
  readonly mode: string;
  readonly harness: string;
  /** First 16 hex digits of the SHA-256 of the session id, or `null` without one. */
  readonly session: string | null;
  readonly verdict: string;
  /** Reason code. */
  readonly code: string;
  /** What the rules saw, by rule. */
  readonly facts: Readonly<Record<string, string>>;
  /** Milliseconds from the start of the program to the verdict. */
  readonly ms: number;
}

/**
 * Appends one entry to the journal of `state`.
 *
 * Silent when it cannot write, and it creates nothing outside `state`: a verdict must never depend
 * on its own record. Only a regular file is opened, since opening a FIFO would hang.
 */
export function appendJournal(state: string, entry: JournalEntry): void {
  const line = new TextEncoder().encode(`${jsonText(entry)}\n`);
  if (line.length > LINE_LIMIT_BYTES) return;
  const path = `${state}/${JOURNAL_NAME}`;
  try {
    const kind = ownKind(path);
    if (kind !== "file" && kind !== "absent") return;
    if (kind === "file") rotateWhenFull(path, line.length);
    const file = Deno.openSync(path, { append: true, create: true, mode: 0o600 });
    using _file = file;
    file.writeSync(line);
  } catch {
    // Read-only, full or foreign state directory: the verdict stands without its record.
  }
}

/**
 * Moves a full journal aside.
 *
 * Under an advisory lock and with a second look at the path, because of two hooks that both find it
 * full the later one would otherwise throw away the half that the earlier one has just put aside.
 */
function rotateWhenFull(path: string, incomingBytes: number): void {
  if (Deno.statSync(path).size + incomingBytes <= JOURNAL_LIMIT_BYTES) return;
  const file = Deno.openSync(path, { read: true });
  using _file = file;
  if (!file.tryLockSync(true)) return;
  const held = file.statSync();
  const current = Deno.statSync(path);
  if (held.ino === current.ino && held.dev === current.dev) Deno.renameSync(path, `${path}.1`);
}

/**
 * The entries of the journal, oldest first, the rotated half included.
 *
 * Lines that are not entries (torn, foreign, from a newer version) are left out.
 */
export function readJournal(state: string): readonly JournalEntry[] {
  const path = `${state}/${JOURNAL_NAME}`;
  return [...readLines(`${path}.1`), ...readLines(path)].flatMap((line) => {
    const entry = parseJournalLine(line);
    return entry === undefined ? [] : [entry];
  });
}

function readLines(path: string): readonly string[] {
  try {
    const info = Deno.lstatSync(path);
    if (!info.isFile || info.size > 2 * JOURNAL_LIMIT_BYTES) return [];
    return Deno.readTextFileSync(path).split("\n");
  } catch {
    return [];
  }
}

/** One line of the journal, or `undefined` when it is none. */
export function parseJournalLine(line: string): JournalEntry | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  return isJournalEntry(value) ? value : undefined;
}

function isJournalEntry(value: unknown): value is JournalEntry {
  if (typeof value !== "object" || value === null) return false;
  const entry: Partial<Record<keyof JournalEntry, unknown>> = value;
  return typeof entry.time === "string" && typeof entry.mode === "string" &&
    typeof entry.harness === "string" && typeof entry.verdict === "string" &&
    typeof entry.code === "string" && typeof entry.ms === "number" &&
    (entry.session === null || typeof entry.session === "string") &&
    typeof entry.facts === "object" && entry.facts !== null;
}

/** The hash that was asked for last; a process has one session. */
let lastHash: { readonly sessionId: string; readonly hash: Promise<string> } | undefined;

/** The form in which a session id enters the journal. */
export async function hashSession(sessionId: string | undefined): Promise<string | null> {
  if (sessionId === undefined) return null;
  if (lastHash?.sessionId !== sessionId) {
    lastHash = { sessionId, hash: hashBytes(new TextEncoder().encode(sessionId)) };
  }
  return await lastHash.hash;
}

/** First 16 hex digits of a SHA-256: enough to tell two things apart, too little to name them. */
export async function hashBytes(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new Uint8Array(bytes));
  return new Uint8Array(digest).toHex().slice(0, 16);
}
