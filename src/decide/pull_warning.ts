/** Whether supervision is healthy in the middle of a turn, by the model that the home is kept by. */

import type { LedgerEntry } from "../state/claude_ledger.ts";
import type { RecoveryReading } from "../state/recovery_marker.ts";
import { judgeOwnership, type OwnershipFact, type SessionLineFact } from "./extension_ownership.ts";
import type { WatcherFact } from "./facts.ts";
import { describeBeacon, type Freshness, judgeFreshness } from "./freshness.ts";
import { flatGrace } from "./grace.ts";
import { type Conclusion, decide, type Rule, rule, type Verdict } from "./rule.ts";
import type { Ask } from "./rule.ts";
import type { SupervisionModel } from "./supervision_model.ts";
import { judgeWatcher } from "./watcher_health.ts";

/** What shows that a turn is the handling of a wake. */
export interface MidturnFact {
  /** Whether a failure of the auto-arm was announced and stands. */
  readonly failing: boolean;
  readonly entry: LedgerEntry | undefined;
  readonly session: SessionLineFact;
  readonly recovery: RecoveryReading;
  /** Second of the ledger's last change; `undefined` when it cannot be read. */
  readonly ledgerSecond: number | undefined;
  /** Second of the last beat; `undefined` when there is none. */
  readonly beaconSecond: number | undefined;
}

/** Every fact that the rules can ask for. */
export interface PullFacts {
  readonly watcher: WatcherFact;
  readonly extensions: OwnershipFact;
  readonly midturn: MidturnFact;
}

/** Why supervision is down. */
export type PullReason =
  | "no-watcher"
  /** Whether a watcher lives cannot be told; that is no proof that one does. */
  | "watcher-unknown"
  | "stale-beacon"
  | "clock-skew";

/** Why supervision is down or healthy. */
export type PullCode =
  | PullReason
  | "watcher-healthy"
  | "beacon-fresh"
  | "handling-turn"
  | "extension-owns";

/** The outcome, with every step that led to it. */
export type PullVerdict = Verdict<PullCode, "healthy" | "down">;

type PullConclusion = Conclusion<PullCode, "healthy" | "down">;
type PullRule = Rule<PullFacts, PullCode, "healthy" | "down">;

const HEALTHY_WATCHER: PullRule = pullRule(
  "watcher",
  "watcher",
  "A live watcher of this home with a fresh beacon is supervision, whoever started it.",
  (fact) => {
    const health = judgeWatcher(fact);
    return health.kind === "healthy" ? healthy("watcher-healthy", health.saw) : askOn(health.saw);
  },
);

const FRESH_BEACON: PullRule = pullRule(
  "beacon",
  "watcher",
  "Without a fresh beacon nobody has watched for longer than the grace.",
  (fact) => beatOf(fact).kind === "fresh" ? askOn(sawBeat(fact)) : down(fact),
);

const LIVE_WATCHER: PullRule = pullRule(
  "persistent-watcher",
  "watcher",
  "Where the session keeps the watcher running, a fresh beacon without one is its last trace.",
  down,
);

const BEATEN_LATELY: PullRule = pullRule(
  "between-turns",
  "watcher",
  "A watcher that runs only between turns has left a fresh beacon when the turn began.",
  (fact) =>
    beatOf(fact).kind === "fresh" ? healthy("beacon-fresh", sawBeat(fact)) : askOn(sawBeat(fact)),
);

const HANDLING_TURN: PullRule = {
  id: "handling-turn",
  because: "A turn that handles a wake may outlast every grace; its end arms the next watcher.",
  conclude: async (ask) => {
    const proof = judgeMidturn(await ask("midturn"));
    return proof.kind === "handling"
      ? healthy("handling-turn", proof.saw)
      : down(await ask("watcher"), proof.saw);
  },
};

const FREE_LOCK: PullRule = pullRule(
  "watch-lock",
  "watcher",
  "An extension lets the lock go when it ends its watcher; a lock that still names one is a crash.",
  (fact) => fact.holder.kind === "none" ? askOn("nobody holds the watch lock") : down(fact),
);

const OWNING_EXTENSION: PullRule = {
  id: "extension",
  because: "Between two watchers only the extension that starts the next one vouches for it.",
  conclude: async (ask) => {
    const ownership = judgeOwnership(await ask("extensions"));
    return ownership.kind === "proven"
      ? healthy("extension-owns", ownership.saw)
      : down(await ask("watcher"), ownership.saw);
  },
};

/** The rules of each model, in the order in which they are asked. */
const RULES: Readonly<Record<SupervisionModel, readonly PullRule[]>> = {
  autoarm: [BEATEN_LATELY, HANDLING_TURN],
  extension: [HEALTHY_WATCHER, FRESH_BEACON, FREE_LOCK, OWNING_EXTENSION],
  persistent: [HEALTHY_WATCHER, LIVE_WATCHER],
};

/** Judges supervision inside a turn. Away mode and its daemon play no part here. */
export async function decidePullWarning(
  model: SupervisionModel,
  ask: Ask<PullFacts>,
): Promise<PullVerdict> {
  return await decide(RULES[model], ask);
}

/** The reason of a verdict that is down; the true one, so that the repair starts in the right place. */
export function pullReason(fact: WatcherFact): PullReason {
  switch (beatOf(fact).kind) {
    case "fresh":
      return judgeWatcher(fact).kind === "unknown" ? "watcher-unknown" : "no-watcher";
    case "clock-skew":
      return "clock-skew";
    default:
      return "stale-beacon";
  }
}

/** Whether this turn handles a wake that was handed to this very session. */
export type Midturn =
  | { readonly kind: "handling"; readonly saw: string }
  | { readonly kind: "unproven"; readonly saw: string };

/**
 * A handling turn is proven by a handover to the session that holds the lock, for the stretch of
 * downtime that is still on record, with no beat since.
 *
 * Each part catches another way for the evidence to outlive its turn. The grace plays no part.
 */
export function judgeMidturn(fact: MidturnFact): Midturn {
  const { entry, session, recovery, ledgerSecond, beaconSecond } = fact;
  if (fact.failing) return unproven("a failure of the auto-arm stands");
  if (entry === undefined) return unproven("the ledger cannot be read");
  if (entry.outcome !== "rewake") return unproven(`the ledger says ${entry.outcome}`);
  if (entry.sessionPid === undefined || entry.sessionPid !== session.line) {
    return unproven("the wake was handed to another session");
  }
  if (session.liveness !== "alive") return unproven("the session is gone");
  if (recovery.kind !== "valid") return unproven("no valid recovery marker");
  if (entry.recoveryGeneration !== recovery.marker.generation) {
    return unproven("the wake belongs to another stretch of downtime");
  }
  if (ledgerSecond === undefined || beaconSecond === undefined) {
    return unproven("no beat to compare");
  }
  if (ledgerSecond < beaconSecond) return unproven("a watcher has beaten since the handover");
  return { kind: "handling", saw: `pid ${session.line} handles ${recovery.marker.generation}` };
}

function pullRule<Name extends keyof PullFacts>(
  id: string,
  fact: Name,
  because: string,
  judge: (fact: PullFacts[Name]) => PullConclusion,
): PullRule {
  return rule<PullFacts, PullCode, Name, "healthy" | "down">(id, fact, because, judge);
}

function beatOf(fact: WatcherFact): Freshness {
  return judgeFreshness(fact.beacon, flatGrace(fact.grace).value);
}

function sawBeat(fact: WatcherFact): string {
  return `last beat: ${describeBeacon(fact.beacon)}, grace ${flatGrace(fact.grace).value}s`;
}

function healthy(code: PullCode, saw: string): PullConclusion {
  return { kind: "healthy", code, saw };
}

function down(fact: WatcherFact, saw: string = judgeWatcher(fact).saw): PullConclusion {
  return { kind: "down", code: pullReason(fact), saw };
}

function askOn(saw: string): PullConclusion {
  return { kind: "ask-on", saw };
}

function unproven(saw: string): Midturn {
  return { kind: "unproven", saw };
}
