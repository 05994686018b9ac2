/** Reconciliation: every registered source of a home has one runner, and nothing else has any. */

import { listClaims, readClaim } from "../../state/procevent/claim.ts";
import { listSources, readSource, type SourceId } from "../../state/procevent/source.ts";
import { closeTroubles, reportTrouble } from "./episode.ts";
import { clearGeneration, type Ownership, ownership, stopGeneration } from "./generation.ts";
import { type Launched, launchRunner, unconfirmed } from "./launch.ts";
import { publishAll } from "./publish.ts";
import { heldSource, type SourceSetup } from "./setup.ts";

/** What a reconciliation did. */
export interface Reconciliation {
  /** Results that nobody has acknowledged and that are queued. */
  readonly published: number;
  readonly started: number;
  readonly stopped: number;
  /** Sources about which nothing could be told; they were left as they are. */
  readonly uncertain: number;
  /** Runners that did not prove themselves. */
  readonly failed: number;
}

/** How long a reconciliation may wait. */
export interface ReconcileLimits {
  /** Seconds, for all runners together. */
  readonly confirmSeconds: number;
  /** Milliseconds for the lock of each source. */
  readonly lockMs?: number;
}

/** Reconciles the sources of a home. A source that fails never keeps another one from its turn. */
export async function reconcile(
  setup: SourceSetup,
  limits: ReconcileLimits,
): Promise<Reconciliation> {
  const published = await publishAll(setup, limits.lockMs);
  const counts = { started: 0, stopped: 0, uncertain: 0 };
  const launched: Launched[] = [];
  for (const id of orphanedClaims(setup)) {
    tally(counts, await orDoubt(() => endUnregistered(setup, id, limits)));
  }
  for (const id of listSources(setup.home.state)) {
    const step = await orDoubt(() => repair(setup, id, limits));
    tally(counts, step);
    if (step.start) {
      const runner = launchRunner(setup, id);
      launched.push(runner ?? { id, status: () => 1 });
    }
  }
  const failed = await unconfirmed(setup, launched, limits.confirmSeconds * 1_000);
  await noteLaunches(setup, launched, failed);
  return { published, ...counts, started: launched.length - failed.length, failed: failed.length };
}

/** What became of one source. */
interface Step {
  readonly start: boolean;
  readonly stopped: boolean;
  readonly uncertain: boolean;
}

const NOTHING: Step = { start: false, stopped: false, uncertain: false };
const START: Step = { ...NOTHING, start: true };
const STOPPED: Step = { ...NOTHING, stopped: true };
const UNCERTAIN: Step = { ...NOTHING, uncertain: true };

function tally(counts: { stopped: number; uncertain: number }, step: Step): void {
  if (step.stopped) counts.stopped++;
  if (step.uncertain) counts.uncertain++;
}

async function orDoubt(step: () => Promise<Step>): Promise<Step> {
  try {
    return await step();
  } catch {
    // A lock that is not free, a row that cannot be queued: the next reconciliation tries again.
    return UNCERTAIN;
  }
}

/** Sources that this home claims without having them registered. */
function orphanedClaims(setup: SourceSetup): readonly SourceId[] {
  return listClaims(setup.claims).filter((id) => {
    const reading = readClaim(setup.claims, id);
    return reading.kind === "claimed" && reading.claim.home === setup.home.home &&
      readSource(setup.home.state, id).kind === "absent";
  });
}

async function endUnregistered(
  setup: SourceSetup,
  id: SourceId,
  limits: ReconcileLimits,
): Promise<Step> {
  using _held = await heldSource(setup, id, limits.lockMs);
  const owner = await ownership(setup, id);
  if (owner.kind === "free" || owner.kind === "uncertain") {
    return owner.kind === "free" ? NOTHING : UNCERTAIN;
  }
  const { claim } = owner;
  const mine = claim.home === setup.home.home && readSource(setup.home.state, id).kind === "absent";
  // A live runner that has just announced its last result is about to release by itself.
  if (!mine || (owner.kind === "live" && claim.phase === "terminal")) return NOTHING;
  if (await stopGeneration(setup, id, claim.token) === "remains") return UNCERTAIN;
  clearGeneration(setup, id, claim);
  return owner.kind === "dead" ? NOTHING : STOPPED;
}

async function repair(setup: SourceSetup, id: SourceId, limits: ReconcileLimits): Promise<Step> {
  using _held = await heldSource(setup, id, limits.lockMs);
  const found = readSource(setup.home.state, id);
  if (found.kind !== "registered") return found.kind === "absent" ? NOTHING : UNCERTAIN;
  const owner = await ownership(setup, id);
  switch (owner.kind) {
    case "free":
      return START;
    case "live":
      closeTroubles(setup, id);
      return NOTHING;
    case "uncertain":
      // A process that cannot be told for a moment may well collect; an unreadable claim names none.
      if (owner.claim === undefined) await reportStranded(setup, id, owner);
      return UNCERTAIN;
    case "dead":
      clearGeneration(setup, id, owner.claim);
      return stillRegistered(setup, id) ? START : NOTHING;
    case "orphaned":
      return await replaceOrphan(setup, id, owner);
  }
}

async function replaceOrphan(
  setup: SourceSetup,
  id: SourceId,
  owner: Extract<Ownership, { kind: "orphaned" }>,
): Promise<Step> {
  if (await stopGeneration(setup, id, owner.claim.token) === "remains") {
    await reportStranded(setup, id, owner);
    return UNCERTAIN;
  }
  clearGeneration(setup, id, owner.claim);
  return { ...(stillRegistered(setup, id) ? START : NOTHING), stopped: true };
}

/** A retirement that was finished just now has taken the registration away. */
function stillRegistered(setup: SourceSetup, id: SourceId): boolean {
  return readSource(setup.home.state, id).kind === "registered";
}

async function reportStranded(
  setup: SourceSetup,
  id: SourceId,
  { claim }: Extract<Ownership, { kind: "orphaned" | "uncertain" }>,
): Promise<void> {
  await reportTrouble(setup, id, "stranded", claim?.token ?? "unreadable");
}

async function noteLaunches(
  setup: SourceSetup,
  launched: readonly Launched[],
  failed: readonly SourceId[],
): Promise<void> {
  for (const { id } of launched) {
    if (!failed.includes(id)) {
      closeTroubles(setup, id);
      continue;
    }
    const found = readSource(setup.home.state, id);
    const episode = found.kind === "registered"
      ? found.identity.replaceAll(":", "-")
      : "unreadable";
    await reportTrouble(setup, id, "launch-failed", episode).catch(() => {});
  }
}
