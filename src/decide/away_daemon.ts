/** The away or quiet daemon as the one other accepted proof of supervision at a turn's end. */

import type { DaemonFact } from "./facts.ts";
import { judgeFreshness } from "./freshness.ts";
import { awayGrace } from "./grace.ts";
import { type HolderAbsence, judgeHolder } from "./holder.ts";

/** Whether the daemon supervises this home. */
export type DaemonOwnership =
  | { readonly kind: "owns"; readonly saw: string }
  | { readonly kind: "does-not"; readonly because: DaemonFault; readonly saw: string }
  | { readonly kind: "unknown"; readonly because: "identity-unknown"; readonly saw: string };

/** Why the daemon certainly does not supervise. */
export type DaemonFault = HolderAbsence | "mode-off" | "beacon-not-fresh";

/**
 * The daemon owns supervision while `.afk` exists, its process is proven and the beacon is fresh.
 *
 * The flag alone proves nothing: a daemon that died leaves it behind. The beacon has the longer,
 * poll-derived grace, because the daemon's watchers run one shot at a time.
 */
export function judgeDaemon(fact: DaemonFact): DaemonOwnership {
  if (fact.mode === "off") return not("mode-off", "away mode is off");
  const holder = judgeHolder(fact.holder, fact.identity);
  if (holder.kind === "absent") return not(holder.because, `${fact.mode} mode: ${holder.detail}`);
  if (holder.kind === "unknown") {
    return { kind: "unknown", because: holder.because, saw: holder.detail };
  }
  const beat = judgeFreshness(fact.beacon, awayGrace(fact.grace).value);
  if (beat.kind !== "fresh") {
    return not(
      "beacon-not-fresh",
      `daemon pid ${holder.pid} lives, but the beacon is ${beat.kind}`,
    );
  }
  return { kind: "owns", saw: `${fact.mode} mode: daemon pid ${holder.pid}` };
}

function not(because: DaemonFault, saw: string): DaemonOwnership {
  return { kind: "does-not", because, saw };
}

/**
 * Whether a command line is that of a daemon, one that `afk on` turned into included: how the process
 * of a lock is known that recorded no identity.
 */
export function namesDaemon(commandLine: string): boolean {
  return commandLine.includes("fm-supervise-daemon.sh") ||
    /(?:^|[\s/])turnguard\S* (?:daemon|(?:afk|away) (?:.* )?(?:on|start))(?: |$)/.test(commandLine);
}
