/** What one check of `doctor` comes to, and what all of them come to together. */

import { EXIT, type ExitStatus } from "../mode.ts";

/** Outcome of a check; what cannot be determined is shown neither as well nor as wrong. */
export type Outcome = "ok" | "wrong" | "undetermined";

/** One check. The same shape is printed with `--json`. */
export interface Check {
  /** Stable name. */
  readonly id: string;
  readonly outcome: Outcome;
  /** What was found, in one sentence. */
  readonly what: string;
  /** What a person can do about it. */
  readonly todo?: string;
}

/** A check that found all well. */
export function ok(id: string, what: string): Check {
  return { id, outcome: "ok", what };
}

/** A check that found something wrong; there is always something to do about it. */
export function wrong(id: string, what: string, todo: string): Check {
  return { id, outcome: "wrong", what, todo };
}

/** A check that came to no answer. */
export function undetermined(id: string, what: string, todo?: string): Check {
  return { id, outcome: "undetermined", what, ...(todo === undefined ? {} : { todo }) };
}

/** The exit status of all checks: something wrong counts more than something unknown. */
export function statusOf(checks: readonly Check[]): ExitStatus {
  if (checks.some((check) => check.outcome === "wrong")) return EXIT.failure;
  if (checks.some((check) => check.outcome === "undetermined")) return EXIT.undetermined;
  return EXIT.ok;
}
