/** The harness that this process works for, as an unbroken run of its ancestors. */

import { type RecognisedHarness, recogniseHarness } from "../harness/recognise.ts";
import type { Pid } from "../platform/pid.ts";
import { parentPid, type Processes } from "../platform/processes.ts";

/** A recognised ancestor. */
export interface HarnessAncestor {
  readonly pid: Pid;
  readonly harness: RecognisedHarness;
}

/** Ancestors that are looked at. */
const HOP_LIMIT = 16;

/**
 * The contiguous harness ancestry, innermost first; empty when it cannot be told.
 *
 * Starts at the parent: our own path may have a component such as `claude`. A run of Claude processes
 * goes on until something else comes, since Claude starts itself again; any other harness is one.
 */
export async function harnessAncestry(processes: Processes): Promise<readonly HarnessAncestor[]> {
  const run: HarnessAncestor[] = [];
  let pid = parentPid();
  for (let hop = 0; pid !== undefined && hop < HOP_LIMIT; hop++) {
    const candidate = await processes.info(pid);
    if (candidate === undefined) break;
    const harness = recogniseHarness(candidate);
    if (harness !== undefined) {
      run.push({ pid, harness });
      if (!harness.claudeShaped) break;
    } else if (run.length > 0) {
      break;
    }
    pid = candidate.parent;
  }
  return run;
}

/** Steps of a walk from a claim's owner up to the session-lock holder. */
const DESCENT_LIMIT = 64;

/** Whether `pid` is `ancestor` or one of its descendants. */
export async function descendsFrom(
  pid: Pid,
  ancestor: Pid,
  processes: Processes,
): Promise<boolean> {
  let current: Pid | undefined = pid;
  for (let step = 0; current !== undefined && step < DESCENT_LIMIT; step++) {
    if (current === ancestor) return true;
    current = (await processes.info(current))?.parent;
  }
  return false;
}
