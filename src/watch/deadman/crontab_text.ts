/** A crontab with the lines of one deadman put in or taken out; everything else stays byte for byte. */

import { cronFields } from "../../decide/deadman_schedule.ts";
import { shellQuote } from "../../harness/shell_quote.ts";
import type { Job } from "./backend.ts";

const NEWLINE = 0x0a;

/** Start of the comment above a line of ours; the id of the home follows. */
const MARK = "# turnguard deadman ";

/** Characters that a command may have where cron is old. */
export const COMMAND_LIMIT = 990;

/** The two lines of a job, or why cron cannot have it. */
export type CronLines =
  | { readonly kind: "lines"; readonly lines: readonly [mark: string, entry: string] }
  | { readonly kind: "refused"; readonly because: string };

/** Renders the lines of a job. */
export function cronLines(job: Job): CronLines {
  const fields = cronFields(job.intervalSeconds);
  if (fields === undefined) {
    return {
      kind: "refused",
      because: `cron cannot repeat every ${job.intervalSeconds} s: take a number of minutes that ` +
        "divides an hour, or of hours that divides a day",
    };
  }
  // A backslash is what keeps cron from making a line break of a percent sign, in quotes as well.
  const command = `cd / && exec ${job.words.map(shellWord).join(" ")}`.replaceAll("%", "\\%");
  if (command.length > COMMAND_LIMIT) {
    return { kind: "refused", because: `the command is longer than ${COMMAND_LIMIT} characters` };
  }
  return { kind: "lines", lines: [`${MARK}${job.id}: ${job.home}`, `${fields} ${command}`] };
}

/** Plain words stay readable. */
function shellWord(text: string): string {
  return /^[A-Za-z0-9-]+$/.test(text) ? text : shellQuote(text);
}

/** The crontab with `lines` at its end, in the place of any that the same home had. */
export function withLines(
  crontab: Uint8Array,
  id: string,
  lines: readonly string[],
): Uint8Array<ArrayBuffer> {
  const kept = withoutLines(crontab, id);
  const separator = kept.length === 0 || kept.at(-1) === NEWLINE ? "" : "\n";
  const added = new TextEncoder().encode(`${separator}${lines.join("\n")}\n`);
  return joined([kept, added]);
}

/** The crontab without the lines of the home `id`. */
export function withoutLines(crontab: Uint8Array, id: string): Uint8Array<ArrayBuffer> {
  return joined(linesOf(crontab).filter((line) => !isOf(line, id)));
}

/** The lines of the home `id`, as they stand. */
export function linesFor(crontab: Uint8Array, id: string): readonly string[] {
  return linesOf(crontab).filter((line) => isOf(line, id)).map(textOf);
}

/** An entry that somebody has commented out is theirs from then on. */
function isOf(line: Uint8Array, id: string): boolean {
  const text = textOf(line);
  if (text.startsWith("#")) return text.startsWith(`${MARK}${id}: `);
  return text.includes(" deadman run ") && text.includes(`/turnguard/deadman/${id}.json`);
}

function textOf(line: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(line).replace(/\n$/, "");
}

/** Lines with their newlines, so that joining them gives the same bytes. */
function linesOf(bytes: Uint8Array): readonly Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline < 0 ? bytes.length : newline + 1;
    lines.push(bytes.subarray(start, end));
    start = end;
  }
  return lines;
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
