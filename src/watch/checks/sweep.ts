/** One sweep over the checks of a home: each is judged and run, until one has something to say. */

import type { Home } from "../../observe/home.ts";
import { errorMessage } from "../../platform/file_text.ts";
import { printable } from "../../platform/printable.ts";
import type { Wake } from "../../state/wake_queue.ts";
import { endAbandonedChecks } from "./abandoned.ts";
import { checkNames, judgeCandidate } from "./candidates.ts";
import { type CheckLimits, runCheck } from "./run_check.ts";

/** What a sweep needs. */
export interface SweepSetup extends CheckLimits {
  readonly home: Home;
}

/** A wake that a sweep asks for. */
export interface SweepWake {
  /** The row; it is queued before the sweep is noted as made, and before anybody is told. */
  readonly row: Wake;
  /** The line for standard output; a check's output may add further lines. */
  readonly reason: string;
}

/** What a sweep came to. */
export type SweepOutcome =
  | { readonly kind: "nothing" }
  /** A check has something to say; those after it wait for the next sweep. */
  | (SweepWake & { readonly kind: "output"; readonly path: string; readonly output: string })
  /** No check has, but some may not run. */
  | (SweepWake & { readonly kind: "rejected"; readonly paths: readonly string[] })
  /** Something that a check started cannot be ended; the watcher must not go on beside it. */
  | { readonly kind: "group-not-gone"; readonly path: string }
  /** Some checks could not be run, through no fault of theirs, and no other had anything to say. */
  | { readonly kind: "unable"; readonly because: string }
  /** The stop came while a check ran; that check is ended. */
  | { readonly kind: "stopped" };

/** Key of the row about checks that may not run. */
const REJECTED_KEY = "unauthenticated-state-checks";

/**
 * Sweeps once. Nothing is queued and no time is noted: that is the watcher's, in its order.
 *
 * Each check is judged right before it runs, so that one which an earlier check changed is caught.
 */
export async function sweepChecks(setup: SweepSetup): Promise<SweepOutcome> {
  const { home } = setup;
  const rejected: string[] = [];
  let unable: string | undefined;
  let names: readonly string[];
  try {
    await endAbandonedChecks(home.state);
    names = checkNames(home.state);
  } catch (error) {
    return { kind: "unable", because: `checks cannot be listed: ${errorMessage(error)}` };
  }
  for (const name of names) {
    const path = `${home.state}/${name}`;
    const candidate = await judgeCandidate(home, name);
    if (candidate.kind === "left-out") continue;
    if (candidate.kind === "changed" || candidate.kind === "rejected") {
      rejected.push(path);
      continue;
    }
    const run = await runCheck(home, candidate, setup);
    if (run.kind === "stopped") return run;
    if (run.kind === "group-not-gone") return { ...run, path };
    if (run.kind === "ran" && run.output !== "") return outputOutcome(path, run.output);
    if (run.kind === "rejected") rejected.push(path);
    if (run.kind === "unable") unable ??= `${path}: ${run.because}`;
  }
  if (rejected.length > 0) return rejectedOutcome(rejected);
  return unable === undefined ? { kind: "nothing" } : { kind: "unable", because: unable };
}

function outputOutcome(path: string, output: string): SweepOutcome {
  const reason = `check: ${path}: ${output}`;
  return {
    kind: "output",
    path,
    output,
    reason,
    row: { kind: "check", key: path, payload: reason },
  };
}

function rejectedOutcome(paths: readonly string[]): SweepOutcome {
  // Whoever can put a file here chooses its name, line breaks included.
  const shown = paths.map(printable).join(" ");
  const reason = `check: rejected unauthenticated state checks: ${shown}`;
  return {
    kind: "rejected",
    paths,
    reason,
    row: { kind: "check", key: REJECTED_KEY, payload: reason },
  };
}
