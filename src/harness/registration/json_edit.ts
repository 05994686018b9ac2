/** JSON texts with one child more or less, and every other byte as it was. */

import type { Node } from "jsonc-parser";
import type { ParsedJson } from "./json_text.ts";
import type { JsonToken } from "./json_tokens.ts";
import { endOf, indentationAt, isSpread, type Layout, type Place, startsLine } from "./layout.ts";

/** A text and what was found in it. */
export interface JsonFile extends Pick<ParsedJson, "root" | "tokens"> {
  readonly text: string;
  readonly layout: Layout;
}

/** How a new child is written where it goes. */
export type WriteChild = (place: Place) => string;

/**
 * `file` with one more child at the end of `container`, laid out as the last one is.
 *
 * Comments behind the last child stay with it, and a comma behind it stays the last character.
 */
export function appendChild(file: JsonFile, container: Node, child: WriteChild): string {
  const { text, layout } = file;
  const last = container.children?.at(-1);
  if (last === undefined) return fill(file, container, child);
  const behind = tokensWithin(file, endOf(last), endOf(container) - 1);
  const end = behind.at(-1);
  const at = end?.end ?? endOf(last);
  const indent = indentationAt(text, last.offset);
  const isOnOwnLine = startsLine(text, last.offset) || end?.endsWithLine === true;
  const spread = isSpread(text, container);
  const gap = isOnOwnLine ? `${layout.newline}${indent}` : spread ? " " : layout.gap;
  const addition = `${gap}${child(isOnOwnLine || spread ? { indent } : "in-line")}`;
  if (behind.some(({ kind }) => kind === "trailing-comma")) {
    return spliceText(text, at, at, `${addition},`);
  }
  return spliceText(spliceText(text, at, at, addition), endOf(last), endOf(last), ",");
}

/** `file` with a child in the empty `container`, behind the comments that are in it. */
function fill(file: JsonFile, container: Node, child: WriteChild): string {
  const { text, layout } = file;
  const end = endOf(container) - 1;
  const comment = tokensWithin(file, container.offset + 1, end).at(-1);
  const start = comment?.end ?? container.offset + 1;
  if (!layout.spread) {
    return spliceText(text, start, end, `${comment ? " " : ""}${child("in-line")}`);
  }
  const outer = indentationAt(text, container.offset);
  const indent = `${outer}${layout.unit}`;
  const { newline } = layout;
  return spliceText(text, start, end, `${newline}${indent}${child({ indent })}${newline}${outer}`);
}

/** `file` without `child` of `container`, and without the comma that it needed. */
export function cutChild({ text, tokens }: JsonFile, child: Node): string {
  const end = endOf(child);
  const previous = tokens.findLast((token) => token.end <= child.offset);
  const comma = tokens.find(({ kind, start }) => kind !== "comment" && start >= end);
  const hasOwnComma = comma?.kind === "comma" || comma?.kind === "trailing-comma";
  const commaBefore = tokens.findLast((token) =>
    token.kind !== "comment" && token.end <= child.offset
  );
  const rest = hasOwnComma
    ? `${text.slice(end, comma.start)}${text.slice(comma.end)}`
    : text.slice(end);
  // What follows must not become part of a comment that its line's end ends.
  const isNeeded = previous?.endsWithLine === true && !/^[ \t]*[\r\n]/.test(rest);
  const head = text.slice(0, isNeeded ? child.offset : previous?.end ?? child.offset);
  if (hasOwnComma || commaBefore?.kind !== "comma") return `${head}${rest}`;
  return `${spliceText(head, commaBefore.start, commaBefore.end, "")}${rest}`;
}

/** The comments of `container` that lie outside of `child`, as text. */
export function commentsAround(file: JsonFile, container: Node, child?: Node): readonly string[] {
  return tokensWithin(file, container.offset, endOf(container))
    .filter(({ kind, start, end }) =>
      kind === "comment" &&
      (child === undefined || end <= child.offset || start >= endOf(child))
    )
    .map(({ start, end }) => file.text.slice(start, end));
}

/** `text` with `replacement` in place of what stands from `start` to `end`. */
export function spliceText(text: string, start: number, end: number, replacement: string): string {
  return `${text.slice(0, start)}${replacement}${text.slice(end)}`;
}

function tokensWithin({ tokens }: JsonFile, start: number, end: number): readonly JsonToken[] {
  return tokens.filter((token) => token.start >= start && token.end <= end);
}
