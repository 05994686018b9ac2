/** Queued wakes as the away daemon handles them: every row becomes an item or nothing, then it is acknowledged. */

import { acknowledgeWakes, presentWakes } from "../../act/wake_drain.ts";
import { wakeKind } from "../../decide/wake_line.ts";
import { observeReservedRows } from "../../observe/branch_grant.ts";
import type { Environment } from "../../platform/environment.ts";
import { errorMessage } from "../../platform/file_text.ts";
import type { Processes } from "../../platform/processes.ts";
import { queuePaths } from "../../state/wake_queue.ts";
import { type ClassifySetup, classifyWake } from "./classify.ts";
import type { Log } from "./daemon_log.ts";

/** What handling needs. */
export interface HandleSetup {
  readonly environment: Environment;
  readonly look: () => Processes;
  readonly classify: ClassifySetup;
  readonly log: Log;
}

/**
 * Handles what is queued, or `reason` when nothing is. A row is acknowledged only after its item is
 * buffered, or was found to need nothing; `kept` rows are told again by the next watcher. Never throws.
 */
export async function handleWakes(
  { environment, look, classify, log }: HandleSetup,
  reason: string,
): Promise<"handled" | "kept"> {
  const { state } = classify;
  const paths = queuePaths(state, environment);
  const shown = await presentWakes({
    paths,
    reserved: () => observeReservedRows(state, look()),
  });
  if (shown.kind !== "presented") {
    const because = shown.kind === "unable" ? `: ${shown.because}` : ` (${shown.kind})`;
    log(
      `durable wake handling was not acknowledged; restarting for recovery${because}`,
    );
    return "kept";
  }
  const payloads = shown.rows
    .filter((row) => /^[0-9]+$/.test(row.epoch) && wakeKind(row.kind + ":") !== undefined)
    .map((row) => row.payload);
  try {
    for (const payload of payloads.length > 0 ? payloads : [reason]) {
      classifyWake(classify, payload);
    }
  } catch (error) {
    log(`wake classification failed; retaining durable wakes: ${errorMessage(error)}`);
    return "kept";
  }
  if (shown.handling === undefined) {
    log("nothing was there to acknowledge");
    return "handled";
  }
  const done = await acknowledgeWakes({ paths, ...shown.handling });
  if (done.kind === "acknowledged") return "handled";
  log(`the wakes were not acknowledged: ${done.kind}`);
  return "kept";
}
