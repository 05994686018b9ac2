/** Registration files as JSON, comments and all: their bytes as text, their text as a tree with positions. */

import { type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { errorMessage } from "../../platform/file_text.ts";
import { type JsonToken, tokensOf } from "./json_tokens.ts";

/** A place in a text as editors count it, from 1. Columns are characters, not bytes. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Why a file is not edited. */
export interface Refusal {
  readonly kind: "refused";
  /** What is wrong, as the end of a sentence that begins with the file. */
  readonly because: string;
  readonly at: Position;
}

/** Something in a text that strict JSON does not have. */
export interface Leniency {
  /** What it is, as a noun with its article. */
  readonly what: string;
  readonly at: Position;
}

/** The tree of a text; offsets count UTF-16 code units. */
export interface ParsedJson {
  readonly kind: "parsed";
  readonly root: Node;
  /** Commas, brackets and comments, in their order. */
  readonly tokens: readonly JsonToken[];
  /** The first thing that a reader of strict JSON would refuse, if any. */
  readonly leniency: Leniency | undefined;
}

const START: Position = { line: 1, column: 1 };
const BYTE_ORDER_MARK = "\ufeff";
const CONFLICT_MARKER = /^(?:<{7}|={7}|>{7}|\|{7})(?![<=>|])/m;

/** What the parser's codes mean to the person who has to correct the file. */
const PARSE_ERRORS: Readonly<Record<string, string>> = {
  InvalidSymbol: "has a word here that JSON does not know",
  InvalidNumberFormat: "has a malformed number here",
  PropertyNameExpected: "lacks a property name here",
  ValueExpected: "lacks a value here",
  ColonExpected: "lacks a colon here",
  CommaExpected: "lacks a comma here",
  CloseBraceExpected: "lacks a closing brace here",
  CloseBracketExpected: "lacks a closing bracket here",
  EndOfFileExpected: "goes on here after its JSON value has ended",
  UnexpectedEndOfComment: "has a comment here that does not end",
  UnexpectedEndOfString: "has a string here that does not end on its line",
  UnexpectedEndOfNumber: "has an unfinished number here",
  InvalidUnicode: "has a malformed \\u escape here",
  InvalidEscapeCharacter: "has an unknown escape here",
  InvalidCharacter: "has a control character in a string here",
};

/**
 * The text of a registration file.
 *
 * Refuses what is not UTF-8 instead of replacing it, since a replaced byte would be written back.
 */
export function decodeJson(bytes: Uint8Array): { kind: "text"; text: string } | Refusal {
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    return { kind: "text", text: decoder.decode(bytes) };
  } catch {
    return { kind: "refused", because: "is not UTF-8 here", at: firstInvalidByte(bytes) };
  }
}

/**
 * Parses a registration file as people write them: JSON that may have comments, commas before a closing
 * bracket and a byte order mark. What it has of these is told, since not every harness reads it.
 *
 * Refuses merge conflict markers and everything else that is not JSON, at the first place that is
 * wrong.
 */
export function parseJson(text: string): ParsedJson | Refusal {
  const body = withoutMark(text);
  if (body.trim() === "") return { kind: "refused", because: "is empty", at: START };
  const errors: ParseError[] = [];
  try {
    const root = parseTree(body, errors, { allowTrailingComma: true });
    if (errors.length > 0 || root === undefined) return whyNotJson(body, errors);
    const tokens = tokensOf(body);
    const lenient = tokens.filter(isLenient);
    // The parser above exists for its positions; this one decides what JSON is.
    JSON.parse(blanked(body, lenient));
    return { kind: "parsed", root, tokens, leniency: leniencyOf(text, lenient[0]) };
  } catch (error) {
    const because = error instanceof RangeError
      ? "is nested too deeply"
      : `is not JSON (${errorMessage(error)})`;
    return { kind: "refused", because, at: START };
  }
}

/** `text` with white space in place of its byte order mark, so that every offset stays. */
function withoutMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? ` ${text.slice(1)}` : text;
}

function isLenient(token: JsonToken): boolean {
  return token.kind === "comment" || token.kind === "trailing-comma";
}

function blanked(text: string, tokens: readonly JsonToken[]): string {
  let result = "";
  let from = 0;
  for (const { start, end } of tokens) {
    result += text.slice(from, start) + " ".repeat(end - start);
    from = end;
  }
  return result + text.slice(from);
}

function leniencyOf(text: string, first: JsonToken | undefined): Leniency | undefined {
  if (text.startsWith(BYTE_ORDER_MARK)) return { what: "a byte order mark", at: START };
  if (first === undefined) return undefined;
  const what = first.kind === "comment" ? "a comment" : "a comma before a closing bracket";
  return { what, at: positionAt(text, first.start) };
}

/** The place of `offset`, which counts UTF-16 code units. */
export function positionAt(text: string, offset: number): Position {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: lines.length, column: Array.from(lines.at(-1) ?? "").length + 1 };
}

function whyNotJson(text: string, errors: readonly ParseError[]): Refusal {
  const conflict = text.search(CONFLICT_MARKER);
  if (conflict >= 0) {
    const because = "has a merge conflict marker here";
    return { kind: "refused", because, at: positionAt(text, conflict) };
  }
  const [first] = errors.toSorted((one, other) => one.offset - other.offset);
  const code = first === undefined ? "ValueExpected" : printParseErrorCode(first.error);
  return {
    kind: "refused",
    because: PARSE_ERRORS[code] ?? "is not JSON here",
    at: positionAt(text, first?.offset ?? 0),
  };
}

function firstInvalidByte(bytes: Uint8Array): Position {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let valid = "";
  try {
    for (const byte of bytes) valid += decoder.decode(Uint8Array.of(byte), { stream: true });
  } catch {
    // The text before the byte that does not fit is what was looked for.
  }
  return positionAt(valid, valid.length);
}
