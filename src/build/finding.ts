/**
 * One breach of a rule of the code's structure.
 *
 * @module
 */

/** Where a rule is broken, and how. */
export interface Finding {
  /** The file, relative to the project. */
  readonly file: string;
  /** The line, counted from 1. */
  readonly line: number;
  /** What is there that must not be. */
  readonly what: string;
  /** The reason of the rule. */
  readonly why: string;
}
