/** A subject that `help` explains beside the modes. */

import type { HelpTable } from "../mode.ts";

/** Lines that are shown as they are, such as commands to type. */
export interface Verbatim {
  readonly lines: readonly string[];
}

/** A paragraph (a plain text), lines as they are, or a table. */
export type Block = string | Verbatim | HelpTable;

/** One subject. */
export interface Topic {
  /** The word after `help`; no mode has it. */
  readonly name: string;
  readonly summary: string;
  readonly blocks: readonly Block[];
}
