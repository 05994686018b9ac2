/** `help`: what turnguard does, and how each mode is called. */

import { writeTo } from "../platform/output.ts";
import { printable } from "../platform/printable.ts";
import { closest } from "./suggest.ts";
import { wrap } from "./wrap.ts";
import {
  type Call,
  EXIT,
  type ExitStatus,
  type HelpTable,
  modeCalled,
  type ModeRow,
  type ModeSpec,
} from "./mode.ts";

/** Columns of every help text. */
const WIDTH = 80;

/** Heading of each kind of mode, in the order in which they are listed. */
const HEADINGS: readonly (readonly [ModeSpec["kind"], string])[] = [
  ["hook", "Called by a harness:"],
  ["person", "Set-up and supervision:"],
  ["read-only", "Looking (changes nothing):"],
];

/** The mode. */
export const helpMode: ModeSpec = {
  name: "help",
  kind: "read-only",
  summary: "Explain turnguard, or one mode.",
  operands: "[MODE]",
  maximumOperands: 1,
  flags: [],
  startsPrograms: false,
  run: help,
};

async function help(call: Call): Promise<ExitStatus> {
  const [word] = call.operands;
  if (word === undefined) {
    await writeTo("stdout", await overview(call.modes));
    return EXIT.ok;
  }
  const row = modeCalled(call.modes, word);
  if (row === undefined) {
    await writeTo("stderr", unknownMode(word, call.modes));
    return EXIT.usage;
  }
  await writeTo("stdout", describeMode(await row.load(), row.aliases ?? []));
  return EXIT.ok;
}

/** The complaint about a mode that does not exist. */
export function unknownMode(name: string, modes: readonly ModeRow[]): string {
  const near = closest(name, modes.map((row) => row.name));
  const hint = near === undefined ? "" : `; did you mean ${near}?`;
  return `turnguard: no mode "${printable(name.slice(0, 40))}"${hint} ` +
    "Nothing was done; see turnguard help\n";
}

/** The text of `help` without a mode. */
export async function overview(rows: readonly ModeRow[]): Promise<string> {
  const modes = await Promise.all(rows.map((row) => row.load()));
  const width = Math.max(...modes.map((mode) => mode.name.length));
  const sections = HEADINGS.map(([kind, heading]) => {
    const rows = modes.filter((mode) => mode.kind === kind)
      .flatMap((mode) => row(mode.name, mode.summary, width));
    return [heading, ...rows, ""].join("\n");
  });
  return [
    "turnguard keeps an AI agent's background work from being left unwatched.",
    "",
    "usage: turnguard MODE [FLAGS]      turnguard help MODE explains one mode",
    "",
    ...sections,
  ].join("\n");
}

/** The text of `help MODE`. */
export function describeMode(mode: ModeSpec, aliases: readonly string[]): string {
  const words = aliases.filter((alias) => !alias.startsWith("-"));
  const flags = mode.flags.map((flag) => ({
    name: `--${flag.name}${flag.value === undefined ? "" : ` ${flag.value}`}`,
    summary: flag.summary,
  }));
  const width = Math.max(0, ...flags.map((flag) => flag.name.length));
  const usage = ["usage: turnguard", mode.name, mode.operands, flags.length > 0 ? "[FLAGS]" : ""]
    .filter((word) => word !== undefined && word !== "").join(" ");
  return [
    `turnguard ${mode.name}: ${mode.summary}`,
    "",
    usage,
    ...(words.length === 0 ? [] : [`also called: ${words.join(", ")}`]),
    ...(flags.length === 0
      ? []
      : ["", ...flags.flatMap((flag) => row(flag.name, flag.summary, width))]),
    ...(mode.details ?? []).flatMap((paragraph) => ["", ...wrap(paragraph, WIDTH)]),
    ...(mode.tables ?? []).flatMap(table),
    "",
  ].join("\n");
}

function table({ heading, rows }: HelpTable): readonly string[] {
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  return [
    "",
    ...wrap(heading, WIDTH),
    ...rows.flatMap(([name, meaning]) => row(name, meaning, width)),
  ];
}

function row(name: string, text: string, width: number): readonly string[] {
  const indent = width + 4;
  return wrap(text, WIDTH - indent).map((line, index) =>
    (index === 0 ? `  ${name.padEnd(width)}  ` : " ".repeat(indent)) + line
  );
}
