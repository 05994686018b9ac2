/** What an arm makes of the watcher that it follows. */

import type { Pid } from "../platform/pid.ts";
import type { ProcessIdentity } from "../platform/process_identity.ts";
import type { BeaconFact, WatcherFact } from "./facts.ts";
import { judgeWatcher, provenWatcher } from "./watcher_health.ts";

/** A watcher that was proven healthy. */
export interface HealthyWatcher {
  readonly pid: Pid;
  readonly identity: ProcessIdentity;
  /** Whole seconds since its last beat. */
  readonly ageSeconds: number;
}

/** What is seen of the watch of somebody else. */
export type AttachedVerdict =
  /** Somebody watches; not necessarily the one that was followed so far. */
  | { readonly kind: "healthy"; readonly watcher: HealthyWatcher }
  /** The followed watcher is behind with its beats, but lives and holds its lock. */
  | { readonly kind: "slow" }
  /** As slow, and so far behind that it counts as stuck. */
  | { readonly kind: "stalled"; readonly ageSeconds: number; readonly boundSeconds: number }
  /** The followed watcher is dead, or no longer the holder of its lock. */
  | { readonly kind: "gone" };

/** What {@link judgeAttached} goes by. */
export interface AttachedFact {
  readonly watcher: WatcherFact;
  readonly followed: HealthyWatcher;
  /** Whole seconds since the followed watcher was last seen healthy. */
  readonly unhealthySeconds: number;
  readonly boundSeconds: number;
}

/**
 * Judges one look. A late beat alone never ends the watch: a machine that was suspended, or a check
 * that takes long, would otherwise cost a session its watcher.
 */
export function judgeAttached(fact: AttachedFact): AttachedVerdict {
  const { followed, boundSeconds } = fact;
  const watcher = healthyWatcher(fact.watcher);
  if (watcher !== undefined) return { kind: "healthy", watcher };
  if (!isFollowed(fact.watcher, followed)) return { kind: "gone" };
  const ageSeconds = silenceSeconds(fact.watcher.beacon, fact.unhealthySeconds);
  return ageSeconds >= boundSeconds
    ? { kind: "stalled", ageSeconds, boundSeconds }
    : { kind: "slow" };
}

/**
 * Whole seconds for which a watcher has not beaten. Without a beat to go by, or with one from the
 * future, the time since the last good look stands in.
 */
export function silenceSeconds(beacon: BeaconFact, unhealthySeconds: number): number {
  return beacon.kind === "beat" && beacon.ageSeconds >= 0 ? beacon.ageSeconds : unhealthySeconds;
}

/** The healthy watcher that was observed, if there is one. */
export function healthyWatcher(fact: WatcherFact): HealthyWatcher | undefined {
  const { holder, beacon } = fact;
  if (judgeWatcher(fact).kind !== "healthy") return undefined;
  if (holder.kind !== "recorded" || holder.identity.kind !== "known" || beacon.kind !== "beat") {
    return undefined;
  }
  const { pid, identity: { identity } } = holder;
  return { pid, identity, ageSeconds: beacon.ageSeconds };
}

/** Whether two looks saw the very same process. */
export function isSameWatcher(
  one: Pick<HealthyWatcher, "pid" | "identity">,
  other: Pick<HealthyWatcher, "pid" | "identity">,
): boolean {
  return one.pid === other.pid && one.identity === other.identity;
}

function isFollowed(fact: WatcherFact, followed: HealthyWatcher): boolean {
  const { holder } = fact;
  return provenWatcher(fact) === followed.pid && holder.kind === "recorded" &&
    holder.identity.kind === "known" && holder.identity.identity === followed.identity;
}
