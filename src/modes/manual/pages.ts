/** The manual pages: one of the program, one of each mode. */

import type { HelpTable, ModeSpec } from "../mode.ts";
import { TOPICS } from "../topics/all.ts";
import type { Block } from "../topics/topic.ts";
import { entry, escaped, paragraph, section, title, verbatim } from "./roff.ts";

/** What the program is for, paragraph by paragraph. */
const ABOUT = [
  "AI coding agents start background work and then end their turn. If nothing watches that work, " +
  "the session sits blind for hours. turnguard is run by a harness at every turn's end: when work " +
  "needs supervision and no live watcher proves that it has it, the turn is blocked once, and the " +
  "session is told what is unwatched and how to repair that.",
  "It also is that watcher, wakes an idle session when a task reports, and ends an agent only when " +
  "it is really idle.",
];

/** The page turnguard(1). */
export function programPage(modes: readonly ModeSpec[], version: string): string {
  return page([
    ...title("turnguard", version),
    ...section("NAME", ["turnguard \\- keep an AI agent\\(aqs background work watched"]),
    ...section("SYNOPSIS", [".B turnguard", ".I MODE", "[\\fIFLAGS\\fR]"]),
    ...section("DESCRIPTION", ABOUT.flatMap(paragraph)),
    ...section(
      "MODES",
      modes.flatMap((mode) => entry(mode.name, `${mode.summary} See turnguard-${mode.name}(1).`)),
    ),
    ...TOPICS.flatMap(({ name, summary, blocks }) =>
      section(name.replaceAll("-", " ").toUpperCase(), [
        ...paragraph(summary),
        ...blocks.flatMap(block),
      ])
    ),
  ]);
}

/** The page of one mode, `turnguard-MODE(1)`. */
export function modePage(mode: ModeSpec, version: string): string {
  const name = `turnguard-${mode.name}`;
  const operands = mode.operands === undefined ? "" : ` \\fI${escaped(mode.operands)}\\fR`;
  return page([
    ...title(name, version),
    ...section("NAME", [`${escaped(name)} \\- ${escaped(mode.summary.replace(/\.$/, ""))}`]),
    ...section("SYNOPSIS", [
      `\\fBturnguard ${escaped(mode.name)}\\fR${operands}${
        mode.flags.length > 0 ? " [\\fIFLAGS\\fR]" : ""
      }`,
    ]),
    ...section("DESCRIPTION", (mode.details ?? []).flatMap(paragraph)),
    ...section(
      "OPTIONS",
      mode.flags.flatMap(({ name, value, summary }) =>
        entry(`--${name}${value === undefined ? "" : ` ${value}`}`, summary)
      ),
    ),
    ...(mode.tables ?? []).flatMap((each) => section("FURTHER", table(each))),
    ...section("SEE ALSO", [".BR turnguard (1)"]),
  ]);
}

function block(each: Block): readonly string[] {
  if (typeof each === "string") return paragraph(each);
  return "lines" in each ? verbatim(each.lines) : table(each);
}

function table({ heading, rows }: HelpTable): readonly string[] {
  return [...paragraph(heading), ...rows.flatMap(([name, meaning]) => entry(name, meaning))];
}

function page(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}
