/** The strict proof that a watcher of this very home is alive and beating. */

import type { FileText } from "../platform/file_text.ts";
import type { Pid } from "../platform/pid.ts";
import type { WatcherFact } from "./facts.ts";
import { judgeFreshness } from "./freshness.ts";
import { flatGrace } from "./grace.ts";
import { type HolderAbsence, judgeHolder } from "./holder.ts";

/** Health of a home's watcher. Only `healthy` is proof of supervision. */
export type WatcherHealth =
  | { readonly kind: "healthy"; readonly pid: Pid; readonly saw: string }
  | { readonly kind: "down"; readonly because: WatcherFault; readonly saw: string }
  | { readonly kind: "unknown"; readonly because: "identity-unknown"; readonly saw: string };

/** Why a watcher certainly does not supervise this home. */
export type WatcherFault =
  | HolderAbsence
  | "other-home"
  | "other-path"
  | "beacon-never"
  | "beacon-unreadable"
  | "beacon-stale"
  | "clock-skew";

/**
 * A watcher is healthy when its process is proven, it watches this home through this path, and its
 * beacon is fresh.
 *
 * All of it is needed: a live watcher of another home, a wedged loop and a reused pid each look
 * alive to a weaker test.
 */
export function judgeWatcher(fact: WatcherFact): WatcherHealth {
  const holder = judgeHolder(fact.holder, fact.identity);
  if (holder.kind === "absent") return down(holder.because, holder.detail);
  if (!says(fact.home, fact.expectedHome)) return down("other-home", differs("home", fact.home));
  if (!says(fact.path, fact.expectedPath)) {
    return down("other-path", differs("watcher path", fact.path));
  }
  if (holder.kind === "unknown") {
    return { kind: "unknown", because: holder.because, saw: holder.detail };
  }
  return judgeBeat(fact, holder.pid);
}

/** The process that the lock names if it is proven to be this home's watcher, whether it beats or not. */
export function provenWatcher(fact: WatcherFact): Pid | undefined {
  const holder = judgeHolder(fact.holder, fact.identity);
  const ours = says(fact.home, fact.expectedHome) && says(fact.path, fact.expectedPath);
  return ours && holder.kind === "proven" ? holder.pid : undefined;
}

function judgeBeat(fact: WatcherFact, pid: Pid): WatcherHealth {
  const grace = flatGrace(fact.grace).value;
  const beat = judgeFreshness(fact.beacon, grace);
  switch (beat.kind) {
    case "fresh":
      return { kind: "healthy", pid, saw: `pid ${pid}, beat ${beat.ageSeconds}s ago` };
    case "stale":
      return down("beacon-stale", `pid ${pid}, beat ${beat.ageSeconds}s ago, grace ${grace}s`);
    case "clock-skew":
      return down("clock-skew", `pid ${pid}, beat ${-beat.ageSeconds}s in the future`);
    case "never":
      return down("beacon-never", `pid ${pid} never beat`);
    case "unreadable":
      return down("beacon-unreadable", `pid ${pid}, beacon not readable`);
  }
}

function says(recorded: FileText, expected: string): boolean {
  return recorded.kind === "text" && recorded.text === expected;
}

function differs(what: string, recorded: FileText): string {
  switch (recorded.kind) {
    case "text":
      return `the lock is for ${what} ${recorded.text}`;
    case "absent":
      return `the lock records no ${what}`;
    case "unreadable":
      return `the recorded ${what}: ${recorded.because}`;
  }
}

function down(because: WatcherFault, saw: string): WatcherHealth {
  return { kind: "down", because, saw };
}
