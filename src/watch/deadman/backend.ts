/** What every scheduler can do for a deadman, and the job that it is given. */

import type { BackendName, DeadmanRecord } from "./record.ts";

/** What a scheduler starts, and how often. */
export interface Job {
  /** See `homeId`. */
  readonly id: string;
  readonly home: string;
  readonly intervalSeconds: number;
  /** The executable by absolute path, and its arguments; no word holds a control character. */
  readonly words: readonly [string, ...string[]];
}

/** What came of a change. */
export type Outcome =
  | { readonly kind: "done"; readonly report: readonly string[] }
  /** It was so already, and nothing was touched. */
  | { readonly kind: "unchanged"; readonly report: readonly string[] }
  | { readonly kind: "failed"; readonly because: string };

/** Whether a job is where `add` puts it. */
export type Standing =
  | { readonly kind: "registered" | "missing" }
  | { readonly kind: "differs" | "unknown"; readonly because: string };

/** One scheduler. Nothing here throws. */
export interface Backend {
  readonly name: BackendName;
  /** Why this host cannot use it; `undefined` when it can. */
  unavailable(job: Job): Promise<string | undefined>;
  /** What `add` would write, for people. */
  preview(job: Job): readonly string[];
  /** Registers the job, in the place of an earlier one of the same home. */
  add(job: Job): Promise<Outcome>;
  /** Removes what any version of `add` registered for that home, and nothing else. */
  remove(id: string): Promise<Outcome>;
  look(job: Job): Promise<Standing>;
}

/** The job of a record. The line holds no version, so that it stays right after an upgrade. */
export function jobOf(record: DeadmanRecord, id: string, recordPath: string): Job {
  const { executable, home, intervalSeconds, root } = record;
  const words = [executable, "deadman", "run", "--root", root, "--record", recordPath] as const;
  return { id, home, intervalSeconds, words };
}

/** The first text with a control character: schedules are made of lines, and could not hold it. */
export function unregistrable(texts: readonly string[]): string | undefined {
  return texts.find((text) => /\p{Cc}/u.test(text));
}

/** An {@link Outcome}. */
export function failed(because: string): Outcome {
  return { kind: "failed", because };
}
