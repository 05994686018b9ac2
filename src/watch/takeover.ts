/** How a watcher comes to hold the watch lock: at once, or from a holder that has stalled. */

import { publishDowntimeNow } from "../act/recovery.ts";
import { judgeRefusal, type Refusal } from "../decide/watcher_takeover.ts";
import { judgeHolder } from "../decide/holder.ts";
import { observeBeacon } from "../observe/beacon.ts";
import type { Home } from "../observe/home.ts";
import { observeWatcher, WATCH_LOCK_NAME } from "../observe/watcher.ts";
import { ageSeconds } from "../platform/clock.ts";
import { liveness } from "../platform/liveness.ts";
import type { Pid } from "../platform/pid.ts";
import type { Processes } from "../platform/processes.ts";
import { type HeldLock, type LockTry, tryLock } from "../state/lock.ts";
import type { WatcherSettings } from "./watcher_settings.ts";

/** What acquiring the watch lock came to. */
export type Takeover =
  | {
    readonly kind: "acquired";
    readonly lock: HeldLock;
    /** Whether a dead or a stalled holder was followed. */
    readonly recovered: boolean;
    /** The holder that was asked to end, and its age in seconds then. */
    readonly replaced: { readonly pid: Pid; readonly ageSeconds: number } | undefined;
  }
  | { readonly kind: "refused"; readonly refusal: Refusal; readonly survivedTerm: boolean };

/** What acquiring needs. */
export interface TakeoverSetup {
  readonly home: Home;
  readonly settings: WatcherSettings;
  readonly look: () => Processes;
}

/** Milliseconds that a stalled holder has to end, and between two looks at it. */
const RETIREMENT_LIMIT_MS = 5_000;
const RETIREMENT_STEP_MS = 100;

/**
 * Takes the watch lock.
 *
 * A stalled holder is asked to end at most once a start, and only if it is proven to be the watcher of
 * this home: a pid that was reused is never signalled. It is never killed.
 */
export async function takeWatchLock(setup: TakeoverSetup): Promise<Takeover> {
  const first = tryWatchLock(setup.home.state);
  if (first.kind === "acquired") return acquired(first, undefined);
  const refusal = observeRefusal(setup, first.holder);
  if (refusal.kind !== "stalled") return { kind: "refused", refusal, survivedTerm: false };
  const stale: Refusal = { ...refusal, kind: "stale" };
  if (!await isProvenHolder(setup, refusal.pid)) {
    return { kind: "refused", refusal: stale, survivedTerm: false };
  }
  if (!await retire(setup, refusal.pid)) {
    return { kind: "refused", refusal: stale, survivedTerm: true };
  }
  const second = tryWatchLock(setup.home.state);
  if (second.kind === "acquired") {
    return acquired(second, { pid: refusal.pid, ageSeconds: refusal.ageSeconds });
  }
  const rival = observeRefusal(setup, second.holder);
  const judged: Refusal = rival.kind === "stalled" ? { ...rival, kind: "stale" } : rival;
  return { kind: "refused", refusal: judged, survivedTerm: false };
}

function tryWatchLock(state: string): LockTry {
  return tryLock(`${state}/${WATCH_LOCK_NAME}`, { beforeSteal: () => publishDowntimeNow(state) });
}

function acquired(
  attempt: Extract<LockTry, { kind: "acquired" }>,
  replaced: { readonly pid: Pid; readonly ageSeconds: number } | undefined,
): Takeover {
  const recovered = attempt.recovered !== undefined || replaced !== undefined;
  return { kind: "acquired", lock: attempt.lock, recovered, replaced };
}

function observeRefusal(
  { home: { state }, settings }: TakeoverSetup,
  holder: Pid | undefined,
): Refusal {
  const beacon = observeBeacon(state);
  return judgeRefusal({
    holder,
    beatAgeSeconds: beacon.kind === "beat" ? beacon.ageSeconds : undefined,
    lockAgeSeconds: ageSeconds(`${state}/${WATCH_LOCK_NAME}`),
    staleGrace: settings.staleGrace,
    stallBoundSeconds: settings.stallBoundSeconds,
  });
}

/** The lock still names that pid, for this home and this path, and its identity matches. */
async function isProvenHolder({ home, look }: TakeoverSetup, pid: Pid): Promise<boolean> {
  const fact = await observeWatcher(
    home,
    { FM_GUARD_GRACE: undefined, FM_POLL: undefined },
    look(),
  );
  const holder = judgeHolder(fact.holder, fact.identity);
  const ours = fact.home.kind === "text" && fact.home.text === fact.expectedHome &&
    fact.path.kind === "text" && fact.path.text === fact.expectedPath;
  return ours && holder.kind === "proven" && holder.pid === pid;
}

/** Sends one TERM and waits until that process is gone, or is another one. */
async function retire(setup: TakeoverSetup, pid: Pid): Promise<boolean> {
  try {
    Deno.kill(pid, "SIGTERM");
  } catch {
    return liveness(pid) !== "alive";
  }
  for (let waitedMs = 0; waitedMs < RETIREMENT_LIMIT_MS; waitedMs += RETIREMENT_STEP_MS) {
    if (liveness(pid) !== "alive" || !await isProvenHolder(setup, pid)) return true;
    await new Promise((resolve) => setTimeout(resolve, RETIREMENT_STEP_MS));
  }
  return false;
}
