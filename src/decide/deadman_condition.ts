/** What one look at a home says to the deadman: supervised, unsupervised, or not to be judged. */

import { judgeDaemon } from "./away_daemon.ts";
import type { BeaconFact, TurnEndFacts } from "./facts.ts";
import { judgeFreshness } from "./freshness.ts";
import { awayGrace, flatGrace } from "./grace.ts";
import { judgeNeed } from "./need.ts";
import { judgeScope } from "./scope.ts";
import { judgeWatcher } from "./watcher_health.ts";

/** The condition of a home. `unknown` is neither of the others and must never count as one. */
export interface Condition {
  readonly kind: "healthy" | "unhealthy" | "unknown";
  readonly because: string;
}

/**
 * Judges a home by the rules of a turn's end, without the turn: scope, need, watcher, daemon.
 *
 * Two answers differ from the guard's, which has to say yes or no at once. A home out of scope is
 * `unknown` here: it was guarded when the deadman was installed, so something happened to it. And a
 * process that cannot be identified raises no alarm while the beat is fresh, since it may well be the
 * watcher; without a fresh beat it supervises nothing, whoever it is.
 */
export async function judgeCondition(
  ask: <Name extends "scope" | "need" | "watcher" | "daemon">(
    name: Name,
  ) => Promise<TurnEndFacts[Name]>,
): Promise<Condition> {
  const scope = judgeScope(await ask("scope"));
  if (scope.kind === "out") return unknown(`the home is not guarded: ${scope.because}`);
  const need = judgeNeed(await ask("need"));
  if (need.kind === "unknown") return unknown(need.because);
  if (need.kind === "none") return healthy("nothing needs supervision");
  const watcherFact = await ask("watcher");
  const watcher = judgeWatcher(watcherFact);
  if (watcher.kind === "healthy") return healthy(`watcher ${watcher.saw}`);
  const daemonFact = await ask("daemon");
  const daemon = judgeDaemon(daemonFact);
  if (daemon.kind === "owns") return healthy(daemon.saw);
  if (
    watcher.kind === "unknown" && mayBeat(watcherFact.beacon, flatGrace(watcherFact.grace).value)
  ) {
    return unknown(`watcher ${watcher.because}: ${watcher.saw}`);
  }
  if (daemon.kind === "unknown" && mayBeat(daemonFact.beacon, awayGrace(daemonFact.grace).value)) {
    return unknown(`daemon ${daemon.because}: ${daemon.saw}`);
  }
  return {
    kind: "unhealthy",
    because: `${need.what}; watcher ${watcher.because}: ${watcher.saw}; ${daemon.saw}`,
  };
}

/** Whether somebody may be beating: not when it is certain that the last beat is too old. */
function mayBeat(beacon: BeaconFact, graceSeconds: number): boolean {
  const { kind } = judgeFreshness(beacon, graceSeconds);
  return kind !== "stale" && kind !== "never";
}

function healthy(because: string): Condition {
  return { kind: "healthy", because };
}

function unknown(because: string): Condition {
  return { kind: "unknown", because };
}
