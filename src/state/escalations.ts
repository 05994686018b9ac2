/** `.subsuper-escalations`: what the away daemon has to tell, one item a line. */

import { nowSeconds } from "../platform/clock.ts";
import { readCapture, readText } from "../platform/file_text.ts";
import { removeQuietly, replaceFile } from "./replace_file.ts";

/** Name of the buffer; `.since` after it holds the second of its first item. */
export const BUFFER_NAME = ".subsuper-escalations";

/** The items, the oldest first. */
export function readEscalations(state: string): readonly string[] {
  const content = readText(`${state}/${BUFFER_NAME}`, Infinity);
  return content.kind === "text" ? content.text.split("\n").filter((line) => line !== "") : [];
}

/** Age in seconds of the first item; `undefined` when there is none. */
export function escalationAge(state: string): number | undefined {
  if (readEscalations(state).length === 0) return undefined;
  return nowSeconds() - (firstEscalationSecond(state) ?? 0);
}

/** Second since the epoch of the first item, as recorded; `undefined` when the record is no time. */
export function firstEscalationSecond(state: string): number | undefined {
  const content = readCapture(sincePath(state));
  return content.kind === "text" && /^[0-9]{1,15}$/.test(content.text)
    ? Number(content.text)
    : undefined;
}

/** Appends one item. Throws when it cannot: the wake must then stay. */
export function appendEscalation(state: string, item: string): void {
  if (readEscalations(state).length === 0) replaceFile(sincePath(state), `${nowSeconds()}\n`);
  Deno.writeTextFileSync(`${state}/${BUFFER_NAME}`, `${item}\n`, { append: true });
}

/** Moves the time of the first item with a clock that was set, or a machine that slept. */
export function shiftEscalationAge(state: string, seconds: number): void {
  const second = firstEscalationSecond(state);
  if (second === undefined) return;
  replaceFile(sincePath(state), `${second + Math.round(seconds)}\n`);
}

/** Empties the buffer. Throws when it cannot: the items would be delivered again. */
export function clearEscalations(state: string): void {
  if (readEscalations(state).length > 0) replaceFile(`${state}/${BUFFER_NAME}`, "");
  removeQuietly(sincePath(state));
}

function sincePath(state: string): string {
  return `${state}/${BUFFER_NAME}.since`;
}
