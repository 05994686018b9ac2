/** What a mode is: the one description that parsing, help, completions and the man page share. */

import type { Environment } from "../platform/environment.ts";
import type { Deadline } from "./deadline.ts";

/** Exit status of a mode. `2` is a block in hook modes and a usage error in commands for people. */
export type ExitStatus = number;

/** Exit statuses by what they mean. */
export const EXIT = {
  ok: 0,
  failure: 1,
  /** Hook modes only, and only as the outcome of a verdict. */
  block: 2,
  /** Commands for people only. */
  usage: 2,
  /** `doctor` and `deadman run`: something could not be determined. */
  undetermined: 3,
  /**
   * No mode, or one that does not exist. Not 2: a harness that drops part of a registration could
   * run the bare executable as a stop hook and would read 2 as a block.
   */
  noMode: 64,
} as const;

/** One flag of a mode. */
export interface FlagSpec {
  /** Long name without dashes. */
  readonly name: string;
  readonly summary: string;
  /** Name of the value for help texts; a flag without one is a switch. */
  readonly value?: string;
  /** All the values there are, where they can be listed. */
  readonly choices?: readonly string[];
  /** Whether the value may be empty, as a shell variable is that nobody set. */
  readonly mayBeEmpty?: true;
}

/** Names and what each of them means, for help. */
export interface HelpTable {
  readonly heading: string;
  readonly rows: readonly (readonly [name: string, meaning: string])[];
}

/** A mode as its table row. */
export interface ModeSpec {
  /** The word that calls it, as in the mode table. */
  readonly name: string;
  /**
   * `hook`: called by a harness, so an error must never wedge a session.
   * `person`: fails loud. `read-only`: as `person`, and gives up writing before it starts.
   */
  readonly kind: "hook" | "person" | "read-only";
  readonly summary: string;
  /** Positional words after the name, for help, such as `add ID | done ID | list`. */
  readonly operands?: string;
  /** Largest number of operands. */
  readonly maximumOperands?: number;
  readonly flags: readonly FlagSpec[];
  /** Further paragraphs for `help <mode>`. */
  readonly details?: readonly string[];
  /** Tables after the paragraphs of `help <mode>`. */
  readonly tables?: readonly HelpTable[];
  /** Milliseconds after which a hook mode allows and exits; hook modes only. */
  readonly deadlineMs?: (call: Omit<Call, "deadline">) => number;
  /** Status of a wrong command line, where the statuses of a wrapped command must stay its own. */
  readonly usageStatus?: ExitStatus;
  /**
   * Whether a call with these words says nothing at all, whatever is wrong: its host would take any
   * output, or any status but 0, for a decision. Such a mode keeps no journal either.
   */
  readonly silent?: (words: readonly string[]) => boolean;
  /** Whether the mode starts programs or sends signals; without it that permission is given up. */
  readonly startsPrograms: boolean;
  readonly run: (call: Call) => Promise<ExitStatus>;
}

/** One row of the mode table: how a mode is called, and where it is. */
export interface ModeRow {
  readonly name: string;
  /** Other words that call it too. */
  readonly aliases?: readonly string[];
  readonly load: () => Promise<ModeSpec>;
}

/** One parsed invocation. */
export interface Call {
  /** The mode table, for the modes that speak about others. */
  readonly modes: readonly ModeRow[];
  /** Value of each given flag; `true` for switches. */
  readonly flags: ReadonlyMap<string, string | true>;
  readonly operands: readonly string[];
  /** Words after `--`. */
  readonly rest: readonly string[];
  readonly environment: Environment;
  /** Milliseconds since the epoch when the process began its work. */
  readonly startedAtMs: number;
  /** To be settled by a mode that has one, before anything of its verdict is told. */
  readonly deadline: Deadline;
}

/** Whether the switch `name` was given. */
export function hasFlag(call: Pick<Call, "flags">, name: string): boolean {
  return call.flags.has(name);
}

/** Value of the flag `name`, or `undefined` when it was not given. */
export function flagValue(call: Call, name: string): string | undefined {
  const value = call.flags.get(name);
  return value === true ? undefined : value;
}

/** The row that `word` calls. */
export function modeCalled(modes: readonly ModeRow[], word: string): ModeRow | undefined {
  return modes.find((row) => row.name === word || (row.aliases?.includes(word) ?? false));
}
