/**
 * A change of the file system in a process of its own, which is killed at each of its steps.
 *
 * The process counts its steps with {@link countSteps}. A test runs it once unharmed, takes the
 * points at which it can be killed from what it printed, and runs it again for each of them.
 *
 * @module
 */

import { dirname, fromFileUrl } from "@std/path";
import type { RunResult } from "./turnguard.ts";

const PROJECT = dirname(dirname(dirname(fromFileUrl(import.meta.url))));

/** Exit status of a process that SIGKILL has ended. */
export const KILLED = 128 + 9;

/** Where in its steps a process is killed, and the variables that have it killed there. */
export interface KillPoint {
  readonly where: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The command that runs a child of `tests/process` with these words. */
export function childCommand(child: string, words: readonly (string | number)[]): string[] {
  return [
    Deno.execPath(),
    "run",
    "--no-check",
    "--cached-only",
    `--config=${PROJECT}/deno.json`,
    "-A",
    child,
    ...words.map(String),
  ];
}

/** The variables that such a child needs besides those of a test. */
export function childEnvironment(): Readonly<Record<string, string>> {
  const kept = ["DENO_DIR", "HOME"].flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { DENO_NO_UPDATE_CHECK: "1", ...Object.fromEntries(kept) };
}

/**
 * The points at which an unharmed run could have been killed: before each step and after the last,
 * and inside each write.
 *
 * Nothing of a process reaches the disk between two steps, so after one is before the next; and a step
 * that failed has changed nothing, so it parts no two points. Throws when the run has counted fewer than
 * `least` steps and cannot be the one that was meant.
 */
export function killPoints({ stdout, stderr }: RunResult, least = 6): readonly KillPoint[] {
  const report = /^steps ([0-9]+), failed ([0-9,]*), writes ([0-9,]*)$/m.exec(stdout);
  const [, total = "0", failed = "", writes = ""] = report ?? [];
  const done = stepNumbers(Number(total), failed);
  if (done.length < least) throw new Error(`it must have its steps: ${stdout}${stderr}`);
  const point = (when: When, at: number | string): KillPoint => ({
    where: `${when} step ${at} of ${total}`,
    env: { KILL_AT: String(at), KILL_WHEN: when },
  });
  const points = [
    ...done.map((at) => point("before", at)),
    ...writes.split(",").filter((at) => at !== "").map((at) => point("inside", at)),
    point("after", total),
  ];
  return FULL ? points : points.filter((_, index) => index % PLAYED_EVERY === 0);
}

/** All points take minutes; a part of them is played each time, all of them with `TURNGUARD_FULL=1`. */
const FULL = Deno.env.get("TURNGUARD_FULL") === "1";
const PLAYED_EVERY = 3;

function stepNumbers(total: number, failed: string): readonly number[] {
  const without = new Set(failed.split(",").filter((at) => at !== "").map(Number));
  return Array.from({ length: total }, (_, index) => index + 1).filter((at) => !without.has(at));
}

type When = "before" | "inside" | "after";

/** Steps of this process. */
export interface Steps {
  /** Prints what {@link killPoints} reads. */
  report(): void;
}

/**
 * Counts every change of the file system from now on, and kills this process at the one that
 * `KILL_AT` numbers: `KILL_WHEN` is `before`, `after`, or, for a write, `inside`, with half of it done.
 */
export function countSteps(): Steps {
  const counter = new StepCounter();
  Deno.mkdirSync = counted(counter, Deno.mkdirSync);
  Deno.renameSync = counted(counter, Deno.renameSync);
  Deno.removeSync = counted(counter, Deno.removeSync);
  Deno.symlinkSync = counted(counter, Deno.symlinkSync);
  Deno.linkSync = counted(counter, Deno.linkSync);
  Deno.chmodSync = counted(counter, Deno.chmodSync);
  Deno.utimeSync = counted(counter, Deno.utimeSync);
  Deno.truncateSync = counted(counter, Deno.truncateSync);
  countOpenings(counter);
  countWrites(counter);
  return counter;
}

function counted<Arguments extends unknown[], Result>(
  counter: StepCounter,
  change: (...args: Arguments) => Result,
): (...args: Arguments) => Result {
  return (...args) => counter.step(() => change(...args));
}

function countOpenings(counter: StepCounter): void {
  const open = Deno.openSync;
  Deno.openSync = (path, options) =>
    options?.write === true || options?.append === true
      ? counter.step(() => open(path, options))
      : open(path, options);
}

function countWrites(counter: StepCounter): void {
  const writeTextFile = Deno.writeTextFileSync;
  Deno.writeTextFileSync = (path, text, options) =>
    counter.step(
      () => writeTextFile(path, text, options),
      // A file that is written in place is empty before it has its text.
      () => writeTextFile(path, "", options),
    );
  const writeBytes = Deno.FsFile.prototype.writeSync;
  Deno.FsFile.prototype.writeSync = function (this: Deno.FsFile, bytes: Uint8Array): number {
    return counter.step(
      () => writeBytes.call(this, bytes),
      () => writeBytes.call(this, bytes.subarray(0, bytes.length / 2)),
    );
  };
}

class StepCounter implements Steps {
  readonly #killAt = Number(Deno.env.get("KILL_AT") ?? "0");
  readonly #killWhen = Deno.env.get("KILL_WHEN");
  readonly #failed: number[] = [];
  readonly #writes: number[] = [];
  #count = 0;

  /** Does a step unless this process is to be killed before it; `half` is how a write is half done. */
  step<Result>(change: () => Result, half?: () => unknown): Result {
    const at = ++this.#count;
    if (half !== undefined) this.#writes.push(at);
    if (this.#dies(at, "inside")) half?.();
    if (this.#dies(at, "inside") || this.#dies(at, "before")) die();
    try {
      return change();
    } catch (error) {
      this.#failed.push(at);
      throw error;
    } finally {
      if (this.#dies(at, "after")) die();
    }
  }

  #dies(at: number, when: When): boolean {
    return at === this.#killAt && this.#killWhen === when;
  }

  report(): void {
    console.log(`steps ${this.#count}, failed ${this.#failed}, writes ${this.#writes}`);
  }
}

function die(): void {
  Deno.kill(Deno.pid, "SIGKILL");
}
