/** The command line as data: what completions and manual pages are made from. */

import type { FlagSpec, ModeRow, ModeSpec } from "./mode.ts";

/** What may stand somewhere on a command line. */
export type Expected =
  /** One of these words. */
  | { readonly kind: "words"; readonly words: readonly string[] }
  | { readonly kind: "directory" }
  | { readonly kind: "file" }
  /** Something that nobody can list: a number, a text, a new name. */
  | { readonly kind: "free" };

/** A flag as completions need it. */
export interface CommandFlag extends FlagSpec {
  /** What its value may be, or `undefined` for a switch. */
  readonly expects: Expected | undefined;
}

/** A mode as completions need it. */
export interface Command {
  readonly spec: ModeSpec;
  /** Its words that people type, the name first. */
  readonly words: readonly string[];
  readonly flags: readonly CommandFlag[];
  /** What its operands may be. */
  readonly operands: Expected;
}

/** Placeholders of values and operands that stand for a directory. */
const DIRECTORIES: readonly string[] = ["DIR", "HOME"];

/** Placeholders that stand for a file. */
const FILES: readonly string[] = ["FILE", "PATH", "SCRIPT"];

/** Every mode, in the table's order; `topics` are the further words that `help` takes. */
export async function commandLine(
  rows: readonly ModeRow[],
  topics: readonly string[],
): Promise<readonly Command[]> {
  const named = [...rows.map(({ name }) => name), ...topics];
  return await Promise.all(rows.map(async (row) => {
    const spec = await row.load();
    const typed = (row.aliases ?? []).filter((alias) => !alias.startsWith("-"));
    return {
      spec,
      words: [row.name, ...typed],
      flags: spec.flags.map((flag) => ({ ...flag, expects: expectedValue(flag) })),
      operands: expectedOperands(spec.operands ?? "", named),
    };
  }));
}

function expectedValue({ value, choices }: FlagSpec): Expected | undefined {
  if (value === undefined) return undefined;
  const words = choices ?? (value.includes("|") ? value.split("|") : undefined);
  return words === undefined ? expectedPlace(value) : { kind: "words", words };
}

function expectedPlace(placeholder: string): Expected {
  if (DIRECTORIES.includes(placeholder)) return { kind: "directory" };
  if (FILES.includes(placeholder)) return { kind: "file" };
  return { kind: "free" };
}

/**
 * Reads the operands of a usage line: the first word of each of its alternatives. `MODE` and `TOPIC`
 * stand for every name that `help` takes.
 */
function expectedOperands(operands: string, named: readonly string[]): Expected {
  const [placeholder, ...others] = operands.split("|")
    .map((alternative) => /[A-Za-z][\w-]*/.exec(alternative)?.[0])
    .filter((word) => word !== undefined);
  if (placeholder === undefined) return { kind: "words", words: [] };
  const words = [placeholder, ...others].flatMap((word) =>
    word === "MODE" ? named : word === word.toLowerCase() ? [word] : []
  );
  return words.length > 0
    ? { kind: "words", words: [...new Set(words)] }
    : expectedPlace(placeholder);
}
