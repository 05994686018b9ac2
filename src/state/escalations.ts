/** `.subsuper-escalations`: what the away daemon has to tell, one item a line. */

import { nowSeconds } from "../platform/clock.ts";
import { readCapture, readText } from "../platform/file_text.ts";
import { appendWholeLine } from "./append_line.ts";
import { removeQuietly, replaceFile } from "./replace_file.ts";

/** Name of the buffer; `.since` after it holds the second of its first item. */
export const BUFFER_NAME = ".subsuper-escalations";

/** Seconds that a time may lie ahead of a clock that was set back a little. */
const SKEW_SECONDS = 60;

/** The buffer as it was read; one that is missing is empty. */
export type Escalations =
  | {
    readonly kind: "read";
    /** The oldest first. */
    readonly items: readonly string[];
  }
  /** Nobody knows whether something waits there. */
  | { readonly kind: "unreadable"; readonly because: string };

/** Reads the buffer. Never throws. */
export function readEscalations(state: string): Escalations {
  const content = readText(bufferPath(state), Infinity);
  if (content.kind === "unreadable") return content;
  const text = content.kind === "text" ? content.text : "";
  return { kind: "read", items: text.split("\n").filter((line) => line !== "") };
}

/**
 * Age in seconds of the first item; `undefined` when nothing waits. One whose time is not recorded, or
 * lies far ahead, is as old as can be: it has waited long enough for everything.
 */
export function escalationAge(state: string): number | undefined {
  const buffer = readEscalations(state);
  if (buffer.kind === "read" && buffer.items.length === 0) return undefined;
  const second = firstEscalationSecond(state);
  const age = second === undefined ? Infinity : nowSeconds() - second;
  return age < -SKEW_SECONDS ? Infinity : Math.max(0, age);
}

/** Second since the epoch of the first item, as recorded; `undefined` when the record is no time. */
export function firstEscalationSecond(state: string): number | undefined {
  const content = readCapture(sincePath(state));
  return content.kind === "text" && /^[0-9]{1,15}$/.test(content.text)
    ? Number(content.text)
    : undefined;
}

/**
 * Appends one item, a single line. Throws when it cannot: the item is not in the buffer then, and the
 * wake must stay.
 */
export function appendEscalation(state: string, item: string): void {
  const before = readEscalations(state);
  if (before.kind === "unreadable") throw new Error(`the buffer: ${before.because}`);
  // Before the item: an item without a time counts as old, a time without an item as nothing.
  if (before.items.length === 0) replaceFile(sincePath(state), `${nowSeconds()}\n`);
  appendWholeLine(bufferPath(state), `${item}\n`);
}

/** Moves the time of the first item with a clock that was set, or a machine that slept. */
export function shiftEscalationAge(state: string, seconds: number): void {
  const second = firstEscalationSecond(state);
  if (second === undefined) return;
  replaceFile(sincePath(state), `${second + Math.round(seconds)}\n`);
}

/** Empties the buffer. Throws when it cannot: the items would be delivered again. */
export function clearEscalations(state: string): void {
  try {
    Deno.removeSync(bufferPath(state));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  removeQuietly(sincePath(state));
}

function bufferPath(state: string): string {
  return `${state}/${BUFFER_NAME}`;
}

function sincePath(state: string): string {
  return `${bufferPath(state)}.since`;
}
