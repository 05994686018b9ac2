/** How a JSON file is laid out, and new values written the same way. */

import type { Node } from "jsonc-parser";

/** A JSON value. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/** The habits of one file. */
export interface Layout {
  /** Its line break. */
  readonly newline: string;
  /** What one level of nesting adds to a line's indentation. */
  readonly unit: string;
  /** What stands after a colon or comma of values that share a line. */
  readonly gap: "" | " ";
  /** Whether its root spreads over several lines; an empty root does not say, and counts as such. */
  readonly spread: boolean;
}

/** The indentation of a value's line, or `in-line` for a value that must not break its line. */
export type Place = { readonly indent: string } | "in-line";

/** The layout of the file `text` with the tree `root`. */
export function layoutOf(text: string, root: Node): Layout {
  const body = spanOf(text, root);
  return {
    newline: /\r\n|\r|\n/.exec(text)?.[0] ?? "\n",
    unit: indentationUnit(text, root) ?? "  ",
    gap: /":\S/.test(body) ? "" : " ",
    spread: isSpread(text, root) || (root.children ?? []).length === 0,
  };
}

/** `value` as text, without an indentation before its first line. */
export function render(value: JsonValue, layout: Layout, place: Place): string {
  if (place !== "in-line") {
    return JSON.stringify(value, null, layout.unit)
      .replaceAll("\n", `${layout.newline}${place.indent}`);
  }
  if (layout.gap === "") return JSON.stringify(value);
  // Line breaks in this text are never part of a string: there they are escaped.
  return JSON.stringify(value, null, 1).replaceAll(/,\n */g, ", ").replaceAll(/\n */g, "");
}

/** `"name": value` as text, without an indentation before its first line. */
export function renderProperty(
  name: string,
  value: JsonValue,
  layout: Layout,
  place: Place,
): string {
  const gap = place === "in-line" ? layout.gap : " ";
  return `${JSON.stringify(name)}:${gap}${render(value, layout, place)}`;
}

/** The text of a node. */
export function spanOf(text: string, node: Node): string {
  return text.slice(node.offset, endOf(node));
}

/** The offset behind a node. */
export function endOf(node: Node): number {
  return node.offset + node.length;
}

/** Whether a node's text has a line break in it. */
export function isSpread(text: string, node: Node): boolean {
  return /[\r\n]/.test(spanOf(text, node));
}

/** The white space at the start of the line that `offset` lies in. */
export function indentationAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(startOfLine(text, offset)))?.[0] ?? "";
}

/** Whether nothing but indentation stands before `offset` on its line. */
export function startsLine(text: string, offset: number): boolean {
  return startOfLine(text, offset) + indentationAt(text, offset).length === offset;
}

/** Looks backwards step by step: a search for a break that the text does not have would read all of it. */
function startOfLine(text: string, offset: number): number {
  let start = offset;
  while (start > 0 && text[start - 1] !== "\n" && text[start - 1] !== "\r") start--;
  return start;
}

/** The step from a container's line to its first child's, at the first place that shows one. */
function indentationUnit(text: string, container: Node): string | undefined {
  const outer = indentationAt(text, container.offset);
  for (const child of container.children ?? []) {
    const inner = indentationAt(text, child.offset);
    const isStep = startsLine(text, child.offset) && inner.length > outer.length &&
      inner.startsWith(outer);
    const unit = isStep ? inner.slice(outer.length) : indentationUnit(text, child);
    if (unit !== undefined) return unit;
  }
  return undefined;
}
