/** `help`: what turnguard does, how each mode is called, and what else there is to know. */

import { writeTo } from "../platform/output.ts";
import { printable } from "../platform/printable.ts";
import { closest } from "./suggest.ts";
import { TOPICS } from "./topics/all.ts";
import type { Block, Topic } from "./topics/topic.ts";
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
  summary: "Explain turnguard, one mode or one topic.",
  operands: "[MODE | topics | TOPIC]",
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
  const topic = TOPICS.find(({ name }) => name === word);
  if (topic !== undefined || word === TOPIC_LIST) {
    await writeTo("stdout", topic === undefined ? listTopics() : describeTopic(topic));
    return EXIT.ok;
  }
  const row = modeCalled(call.modes, word);
  if (row === undefined) {
    await writeTo("stderr", unknownSubject(word, call.modes));
    return EXIT.usage;
  }
  await writeTo("stdout", describeMode(await row.load(), row.aliases ?? []));
  return EXIT.ok;
}

/** The complaint about a mode that does not exist. */
export function unknownMode(name: string, modes: readonly ModeRow[]): string {
  return unknownWord("mode", name, modes.map((row) => row.name));
}

function unknownSubject(name: string, modes: readonly ModeRow[]): string {
  const subjects = [...modes.map((row) => row.name), ...TOPICS.map((topic) => topic.name)];
  return unknownWord("mode or topic", name, subjects);
}

function unknownWord(kind: string, word: string, known: readonly string[]): string {
  const near = closest(word, known);
  const hint = near === undefined ? "" : `; did you mean ${near}?`;
  return `turnguard: no ${kind} "${printable(word.slice(0, 40))}"${hint} ` +
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
    "To read: turnguard help TOPIC",
    ...topicRows(),
    "",
  ].join("\n");
}

/** The word that lists the topics. */
const TOPIC_LIST = "topics";

function listTopics(): string {
  return ["Topics; turnguard help TOPIC shows one:", ...topicRows(), ""].join("\n");
}

function topicRows(): readonly string[] {
  const width = Math.max(...TOPICS.map(({ name }) => name.length));
  return TOPICS.flatMap(({ name, summary }) => row(name, summary, width));
}

/** The text of `help TOPIC`. */
export function describeTopic({ summary, blocks }: Topic): string {
  return [summary, ...blocks.flatMap(describeBlock), ""].join("\n");
}

function describeBlock(block: Block): readonly string[] {
  if (typeof block === "string") return ["", ...wrap(block, WIDTH)];
  if ("lines" in block) return ["", ...block.lines.map((line) => `  ${line}`)];
  return table(block);
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
    ...wrap(`turnguard ${mode.name}: ${mode.summary}`, WIDTH),
    "",
    ...indented(usage),
    ...(words.length === 0 ? [] : [`also called: ${words.join(", ")}`]),
    ...(flags.length === 0
      ? []
      : ["", ...flags.flatMap((flag) => row(flag.name, flag.summary, width))]),
    ...(mode.details ?? []).flatMap((paragraph) => ["", ...wrap(paragraph, WIDTH)]),
    ...(mode.tables ?? []).flatMap(table),
    "",
  ].join("\n");
}

/** A usage line that is too long goes on below its first word. */
function indented(usage: string): readonly string[] {
  const indent = " ".repeat("usage: ".length);
  return wrap(usage, WIDTH - indent.length).map((line, index) =>
    index === 0 ? line : indent + line
  );
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
