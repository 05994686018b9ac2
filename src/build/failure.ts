/**
 * The errors of the build, in one form: what is wrong, what was left untouched,
 * what to do.
 *
 * @module
 */

import { wrap } from "./wrap.ts";

/** The parts of a {@link BuildFailure}, each a sentence or more. */
export interface FailureParts {
  /** What is wrong. */
  readonly wrong: string;
  /** What is as it was before. */
  readonly untouched: string;
  /** What to do about it. */
  readonly advice: string;
  /** The output of the program that failed, if one did. */
  readonly output?: string;
}

/** An expected failure of the build. */
export class BuildFailure extends Error {
  override readonly name = "BuildFailure";

  /** The parts that the message is made of. */
  readonly parts: FailureParts;

  constructor(parts: FailureParts, options?: ErrorOptions) {
    super(`${parts.wrong} ${parts.untouched} ${parts.advice}`, options);
    this.parts = parts;
  }

  /** The failure as lines for a terminal: wrapped, the output indented below. */
  describe(): string {
    const text = wrap(`error: ${this.message}`, "       ");
    const output = (this.parts.output ?? "").trim();
    if (output === "") return text;
    return `${text}\n\n${output.replaceAll(/^/gm, "  ")}`;
  }
}

const FULL_DISK = /ENOSPC|EDQUOT|os error 28|os error 122|no space left|quota exceeded/i;

/** Whether an error, or what a program printed, says that the disk is full. */
export function saysDiskFull(error: unknown): boolean {
  return FULL_DISK.test(error instanceof Error ? `${error.message}` : String(error));
}

/** The failure to report when there is no room for a file below `folder`. */
export function diskFull(folder: string, cause: unknown): BuildFailure {
  return new BuildFailure({
    wrong: `There is no room left on the disk of ${folder}.`,
    untouched: "The executable of an earlier build is as it was, half-written files are gone.",
    advice: "Free about 400 MB there, then build again.",
  }, { cause });
}
