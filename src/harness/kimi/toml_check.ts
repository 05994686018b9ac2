/** Whether a configuration is TOML that a list of hooks can be added to. */

import { parse, TomlError } from "smol-toml";
import { errorMessage } from "../../platform/file_text.ts";
import type { Refusal } from "../registration/json_text.ts";

/** What is wrong with `text`, at its place, or `undefined`. */
export function checkToml(text: string): Refusal | undefined {
  const start = { line: 1, column: 1 };
  if (text.startsWith("\ufeff")) {
    return { kind: "refused", because: "starts with a byte order mark: malformed TOML", at: start };
  }
  try {
    const { hooks } = parse(text, { integersAsBigInt: true });
    if (hooks === undefined || Array.isArray(hooks)) return undefined;
    return { kind: "refused", because: "has a top-level hooks that is not an array", at: start };
  } catch (error) {
    const at = error instanceof TomlError ? { line: error.line, column: error.column } : start;
    const [first = ""] = errorMessage(error).split("\n");
    const why = first.replace(/^Invalid TOML document: /, "");
    return { kind: "refused", because: `is malformed TOML here (${why})`, at };
  }
}
