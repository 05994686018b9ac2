/** The parts of a JSON text that say where something can be put in, and what belongs to whom. */

import { createScanner } from "jsonc-parser";

/** One part; offsets count UTF-16 code units. */
export interface JsonToken {
  /** `value` is every other word. */
  readonly kind: "open" | "close" | "comma" | "trailing-comma" | "comment" | "value";
  readonly start: number;
  readonly end: number;
  /** Whether it is a comment that its line's end ends. */
  readonly endsWithLine: boolean;
}

/** Kinds of the scanner's tokens, by their number there. */
const KINDS: Readonly<Record<number, JsonToken["kind"] | undefined>> = {
  1: "open",
  2: "close",
  3: "open",
  4: "close",
  5: "comma",
  12: "comment",
  13: "comment",
  // White space.
  14: undefined,
  15: undefined,
};

const LINE_COMMENT = 12;
const END_OF_FILE = 17;

/** Every token of a text that is JSON with or without comments; colons count as values. */
export function tokensOf(text: string): readonly JsonToken[] {
  const scanner = createScanner(text, false);
  const tokens: JsonToken[] = [];
  for (let type: number = scanner.scan(); type !== END_OF_FILE; type = scanner.scan()) {
    const kind = type in KINDS ? KINDS[type] : "value";
    if (kind === undefined) continue;
    const start = scanner.getTokenOffset();
    const end = start + scanner.getTokenLength();
    if (kind === "close") markTrailingComma(tokens);
    tokens.push({ kind, start, end, endsWithLine: type === LINE_COMMENT });
  }
  return tokens;
}

/** A bracket is about to close: the comma before it, comments between them aside, trails. */
function markTrailingComma(tokens: JsonToken[]): void {
  const index = tokens.findLastIndex(({ kind }) => kind !== "comment");
  const last = tokens[index];
  if (last?.kind === "comma") tokens[index] = { ...last, kind: "trailing-comma" };
}
