/** Arguments of a mode, read against the mode's own table row. */

import { parseArgs } from "@std/cli";
import { printableWithin } from "../platform/printable.ts";
import type { ModeSpec } from "./mode.ts";

/** Flags and operands, or what is wrong with the command line. */
export type ParsedArguments =
  | {
    readonly kind: "parsed";
    readonly flags: ReadonlyMap<string, string | true>;
    readonly operands: readonly string[];
    readonly rest: readonly string[];
  }
  /** `--help` was asked for. */
  | { readonly kind: "help" }
  | UsageError;

/** What is wrong with a command line. */
export interface UsageError {
  readonly kind: "usage";
  readonly message: string;
  /** Name of the flag that the mode does not have, where that is what is wrong. */
  readonly unknownFlag?: string;
}

/** Reads `args`, the words after the mode's name. */
export function parseArguments(mode: ModeSpec, args: readonly string[]): ParsedArguments {
  const complaints: UsageError[] = [...valuedSwitches(mode, args)];
  const { empty, words } = takeEmptyValues(mode, args);
  const values = mode.flags.filter((flag) => flag.value !== undefined).map((flag) => flag.name);
  const switches = mode.flags.filter((flag) => flag.value === undefined).map((flag) => flag.name);
  const parsed = parseArgs([...words], {
    string: [...values, "_"],
    boolean: [...switches, "help"],
    alias: { help: "h" },
    "--": true,
    unknown: (word, key) => {
      if (key === undefined) return true;
      complaints.push(unknownFlag(word));
      return false;
    },
  });
  if (parsed["help"] === true) return { kind: "help" };
  const operands = parsed._.map(String);
  const extra = operands[mode.maximumOperands ?? 0];
  if (extra !== undefined) complaints.push(usage(`unexpected word ${quoted(extra)}`));
  const flags = new Map<string, string | true>(empty.map((name) => [name, ""]));
  for (const flag of mode.flags) {
    const value: unknown = parsed[flag.name];
    if (value === undefined || value === false) continue;
    if (value === true && flag.value === undefined) flags.set(flag.name, true);
    else if (typeof value === "string" && value !== "") flags.set(flag.name, value);
    else complaints.push(usage(`--${flag.name} needs one ${flag.value}`));
  }
  const [first] = complaints;
  if (first !== undefined) return first;
  return { kind: "parsed", flags, operands, rest: parsed["--"]?.map(String) ?? [] };
}

/** The parser takes a switch with a value for one without, and `--switch=false` for none. */
function valuedSwitches(mode: ModeSpec, args: readonly string[]): readonly UsageError[] {
  const end = args.indexOf("--");
  const words = end < 0 ? args : args.slice(0, end);
  return mode.flags.filter(({ name, value }) =>
    value === undefined && words.some((word) => word.startsWith(`--${name}=`))
  ).map(({ name }) => usage(`--${name} takes no value`));
}

/** Takes out the flags that were given an empty value and may have one; the parser mistakes those. */
function takeEmptyValues(
  mode: ModeSpec,
  args: readonly string[],
): { readonly empty: readonly string[]; readonly words: readonly string[] } {
  const empty: string[] = [];
  const words: string[] = [];
  for (let index = 0; index < args.length; index++) {
    const word = args[index] ?? "";
    const flag = mode.flags.find(({ name, mayBeEmpty }) =>
      mayBeEmpty === true &&
      (word === `--${name}=` || (word === `--${name}` && args[index + 1] === ""))
    );
    if (flag === undefined) {
      words.push(word);
      continue;
    }
    empty.push(flag.name);
    if (!word.endsWith("=")) index++;
  }
  return { empty, words };
}

function unknownFlag(word: string): UsageError {
  const name = word.replace(/^-+/, "").replace(/=.*$/s, "");
  return { kind: "usage", message: `unknown flag ${quoted(word)}`, unknownFlag: name };
}

function usage(message: string): UsageError {
  return { kind: "usage", message };
}

function quoted(word: string): string {
  return `"${printableWithin(word, 60)}"`;
}
