/** What one look at a home says to the deadman: supervised, unsupervised, or not to be judged. */

import { type DaemonOwnership, judgeDaemon } from "./away_daemon.ts";
import type { TurnEndFacts } from "./facts.ts";
import { judgeNeed } from "./need.ts";
import { judgeScope } from "./scope.ts";
import { judgeWatcher, type WatcherHealth } from "./watcher_health.ts";

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
 * process that cannot be identified raises no alarm, since it may well be the watcher.
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
  const watcher = judgeWatcher(await ask("watcher"));
  if (watcher.kind === "healthy") return healthy(`watcher ${watcher.saw}`);
  const daemon = judgeDaemon(await ask("daemon"));
  if (daemon.kind === "owns") return healthy(daemon.saw);
  return unproven(need.what, watcher, daemon);
}

function unproven(
  need: string,
  watcher: Exclude<WatcherHealth, { kind: "healthy" }>,
  daemon: Exclude<DaemonOwnership, { kind: "owns" }>,
): Condition {
  if (watcher.kind === "unknown") return unknown(`watcher ${watcher.because}: ${watcher.saw}`);
  if (daemon.kind === "unknown") return unknown(`daemon ${daemon.because}: ${daemon.saw}`);
  return {
    kind: "unhealthy",
    because: `${need}; watcher ${watcher.because}: ${watcher.saw}; ${daemon.saw}`,
  };
}

function healthy(because: string): Condition {
  return { kind: "healthy", because };
}

function unknown(because: string): Condition {
  return { kind: "unknown", because };
}
