/** The operator's return: the daemon stops, and what happened is told before anything else goes on. */

import { presentWakes } from "../../act/wake_drain.ts";
import { observeReservedRows } from "../../observe/branch_grant.ts";
import { observeAwayMode } from "../../observe/daemon.ts";
import type { Home } from "../../observe/home.ts";
import type { Environment } from "../../platform/environment.ts";
import type { Processes } from "../../platform/processes.ts";
import { clearEscalations } from "../../state/escalations.ts";
import { lockWithin } from "../../state/lock.ts";
import { removeQuietly } from "../../state/replace_file.ts";
import {
  type Evidence,
  readGate,
  RETURN_GATE_NAME,
  type ReturnGate,
  writeGate,
} from "../../state/return_gate.ts";
import { queuePaths } from "../../state/wake_queue.ts";
import { WEDGED_NAME } from "./delivery.ts";
import { openBlockers, undelivered } from "./return_report.ts";
import { stopAway } from "./stop_away.ts";

/** What a return needs. */
export interface ReturnSetup {
  readonly home: Home;
  readonly environment: Environment;
  readonly look: () => Processes;
  /** Tells what happened; nothing is forgotten before it has reached its reader. */
  readonly tell: (gate: ReturnGate) => Promise<"written" | "not written">;
}

/** What a return came to. */
export type Return =
  /** Somebody else is at it. */
  | { readonly kind: "busy" }
  /** Nobody took what was told; all of it is kept. */
  | { readonly kind: "not-told" }
  /** The gate stays: something failed, or waits for a decision. */
  | { readonly kind: "blocked"; readonly gate: ReturnGate }
  /** The gate is gone. `handling` is what the session has to acknowledge after it has handled it. */
  | {
    readonly kind: "open";
    readonly gate: ReturnGate;
    readonly handling: { readonly through: number; readonly generation: string } | undefined;
  };

/** Milliseconds that a return waits for another one. */
const LOCK_LIMIT_MS = 10_000;

/** Stops the mode, gathers what happened, and opens the gate when nothing stands in the way. */
export async function comeBack(setup: ReturnSetup): Promise<Return> {
  const { state } = setup.home;
  const attempt = await lockWithin(`${state}/${RETURN_GATE_NAME}.lock`, LOCK_LIMIT_MS);
  if (attempt.kind === "refused") return { kind: "busy" };
  using _held = attempt.lock;
  const before = readGate(state);
  writeGate(state, { ...before, phase: "stopping-and-draining", blockers: [] });
  const failures: Evidence[] = [];
  if (observeAwayMode(state) !== "off") {
    const stopped = await stopAway(state, setup.look);
    if (stopped.kind === "did-not-stop") {
      failures.push({ kind: "lifecycle", text: `the daemon (pid ${stopped.pid}) did not stop` });
    }
    if (stopped.kind === "flag-stays") {
      failures.push({ kind: "lifecycle", text: "the mode's flag could not be removed" });
    }
  }
  const drained = await drain(setup);
  if (drained.failure !== undefined) failures.push({ kind: "lifecycle", text: drained.failure });
  const waiting = undelivered(state);
  const held = openBlockers(state);
  failures.push(...waiting.failures, ...held.failures);
  const gate: ReturnGate = {
    started: before.started,
    phase: "blocked",
    evidence: distinct([
      ...before.evidence,
      ...drained.evidence,
      ...waiting.evidence,
      ...failures,
    ]),
    blockers: held.blockers,
  };
  if (failures.length > 0 || gate.blockers.length > 0) {
    writeGate(state, gate);
    return { kind: "blocked", gate };
  }
  if (await setup.tell(gate) === "not written") {
    writeGate(state, gate);
    return { kind: "not-told" };
  }
  // What is reported here is told; the buffer would tell it again.
  clearEscalations(state);
  for (const name of [WEDGED_NAME, RETURN_GATE_NAME]) removeQuietly(`${state}/${name}`);
  return { kind: "open", gate, handling: drained.handling };
}

async function drain({ home: { state }, environment, look }: ReturnSetup): Promise<{
  readonly evidence: readonly Evidence[];
  readonly failure: string | undefined;
  readonly handling: { readonly through: number; readonly generation: string } | undefined;
}> {
  const shown = await presentWakes({
    paths: queuePaths(state, environment),
    reserved: () => observeReservedRows(state, look()),
  });
  if (shown.kind !== "presented") {
    return {
      evidence: [],
      failure: `the wakes were not shown: ${shown.kind}`,
      handling: undefined,
    };
  }
  const evidence = shown.rows.map(({ payload }) => ({ kind: "wake", text: payload }) as const);
  return { evidence, failure: undefined, handling: shown.handling };
}

function distinct(evidence: readonly Evidence[]): readonly Evidence[] {
  const seen = new Set<string>();
  return evidence.filter(({ kind, text }) => {
    const key = `${kind}\t${text}`;
    return !seen.has(key) && seen.add(key);
  });
}
