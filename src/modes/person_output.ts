/** How commands speak to people: colour where it is wanted, lines that fit, one way to complain. */

import { bold, dim, green, red, yellow } from "@std/fmt/colors";
import type { Environment } from "../platform/environment.ts";
import { writeTo } from "../platform/output.ts";
import { jsonText, printable } from "../platform/printable.ts";
import { EXIT, type ExitStatus } from "./mode.ts";
import { wrap } from "./wrap.ts";

/** Columns that every screen fits in, paths that cannot be broken excepted. */
export const SCREEN_COLUMNS = 80;

type Paint = (text: string) => string;

/** The few styles that screens use, named by what they mean. */
export interface Style {
  readonly title: Paint;
  readonly quiet: Paint;
  readonly good: Paint;
  readonly bad: Paint;
  readonly doubtful: Paint;
}

const COLOURED: Style = { title: bold, quiet: dim, good: green, bad: red, doubtful: yellow };

const PLAIN: Style = {
  title: unpainted,
  quiet: unpainted,
  good: unpainted,
  bad: unpainted,
  doubtful: unpainted,
};

function unpainted(text: string): string {
  return text;
}

/**
 * The style for a stream. `NO_COLOR` always wins; `FORCE_COLOR` asks for colour in a pipe; a
 * terminal that calls itself `dumb` would show the codes as text.
 */
export function styleFor(isTerminal: boolean, environment: Environment): Style {
  if (environment.get("NO_COLOR") !== undefined) return PLAIN;
  if (environment.get("FORCE_COLOR") !== undefined) return COLOURED;
  return isTerminal && environment.get("TERM") !== "dumb" ? COLOURED : PLAIN;
}

/** The style for standard output. */
export function screenStyle(environment: Environment): Style {
  return styleFor(Deno.stdout.isTerminal(), environment);
}

/** Writes lines to standard output. */
export async function say(lines: readonly string[]): Promise<void> {
  await writeTo("stdout", lines.map((line) => `${line}\n`).join(""));
}

/** Writes one JSON document to standard output, indented so that people can read it too. */
export async function sayJson(value: unknown): Promise<void> {
  await say([jsonText(value, 2)]);
}

/** What a person has to know when a command cannot do its work. */
export interface Complaint {
  /** Name of the mode. */
  readonly mode: string;
  readonly wrong: string;
  /** What the failed command left as it was. */
  readonly untouched: string;
  readonly todo: string;
}

/**
 * Prints a complaint as one line on standard error and returns the exit status of a failure.
 *
 * The parts may quote files and arguments: whatever could steer a terminal is shown as an escape.
 */
export async function complain(complaint: Complaint): Promise<ExitStatus> {
  const { mode, wrong, untouched, todo } = complaint;
  await writeTo("stderr", `${printable(`turnguard ${mode}: ${wrong}; ${untouched}; ${todo}`)}\n`);
  return EXIT.failure;
}

/** Prints what is wrong with a command line and returns the exit status of a usage error. */
export async function complainUsage(mode: string, wrong: string): Promise<ExitStatus> {
  const line = `turnguard ${mode}: ${wrong}; nothing was done; see: turnguard help ${mode}`;
  await writeTo("stderr", `${printable(line)}\n`);
  return EXIT.usage;
}

/**
 * `text` behind a label, broken at blanks: the first line carries the label, further ones are
 * indented alike. A word that is too long stays whole: a path cut in two can no longer be copied.
 */
export function labelled(label: string, text: string, columns = SCREEN_COLUMNS): readonly string[] {
  const indent = " ".repeat(textColumns(label));
  return wrap(text, columns - indent.length)
    .map((line, index) => `${index === 0 ? label : indent}${line}`);
}

/** Number of characters as a reader counts them. */
function textColumns(text: string): number {
  return Array.from(text).length;
}

/** `text` cut to `columns`, with a mark where something is missing. */
export function fitted(text: string, columns: number): string {
  const characters = Array.from(text);
  if (characters.length <= columns) return text;
  return `${characters.slice(0, Math.max(0, columns - 1)).join("")}…`;
}

const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 60 * MINUTE_SECONDS;
const DAY_SECONDS = 24 * HOUR_SECONDS;

/** A time span in the largest unit that leaves no more than two digits where it can. */
export function ageInWords(seconds: number): string {
  if (seconds < 0) return `${ageInWords(-seconds)} ahead`;
  if (seconds < 2 * MINUTE_SECONDS) return `${seconds} s`;
  if (seconds < 2 * HOUR_SECONDS) return `${Math.floor(seconds / MINUTE_SECONDS)} min`;
  if (seconds < 2 * DAY_SECONDS) return `${Math.floor(seconds / HOUR_SECONDS)} h`;
  return `${Math.floor(seconds / DAY_SECONDS)} d`;
}

/** `count` of something, with the plural of English. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

export { pasteable } from "../harness/shell_quote.ts";
