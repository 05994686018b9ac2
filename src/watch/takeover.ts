/** How a watcher comes to hold the watch lock: at once, or from a holder that has stalled. */

import { withBeatGrace } from "../act/beat_grace.ts";
import { publishDowntimeNow } from "../act/recovery.ts";
import { provenWatcher } from "../decide/watcher_health.ts";
import { judgeRefusal, type Refusal, type StalledHolder } from "../decide/watcher_refusal.ts";
import { observeBeacon } from "../observe/beacon.ts";
import type { Home } from "../observe/home.ts";
import { graceVariables } from "../observe/turn_end.ts";
import { observeWatcher, WATCH_LOCK_NAME } from "../observe/watcher.ts";
import { ageSeconds } from "../platform/clock.ts";
import type { Environment } from "../platform/environment.ts";
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
    /** The holder that was asked to end, as it was before it was asked. */
    readonly replaced: StalledHolder | undefined;
  }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/** What acquiring needs. */
export interface TakeoverSetup {
  readonly home: Home;
  readonly environment: Environment;
  readonly settings: WatcherSettings;
  /** Looks at processes afresh. */
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
  const stalled = await observeRefusal(setup, first.holder);
  if (stalled.kind !== "holder-stalled") return { kind: "refused", refusal: stalled };
  const stale = { ...stalled, kind: "holder-stale" } as const;
  if (!await isProvenHolder(setup, stalled.pid)) return { kind: "refused", refusal: stale };
  if (!await retireHolder(setup, stalled.pid)) {
    return { kind: "refused", refusal: { ...stale, kind: "holder-survived" } };
  }
  const second = tryWatchLock(setup.home.state);
  if (second.kind === "acquired") return acquired(second, stalled);
  const rival = await observeRefusal(setup, second.holder);
  return {
    kind: "refused",
    refusal: rival.kind === "holder-stalled" ? { ...rival, kind: "holder-stale" } : rival,
  };
}

/** Tries the lock once; a dead holder's downtime is recorded before its lock is removed. */
function tryWatchLock(state: string): LockTry {
  return tryLock(`${state}/${WATCH_LOCK_NAME}`, { beforeSteal: () => publishDowntimeNow(state) });
}

function acquired(
  attempt: Extract<LockTry, { kind: "acquired" }>,
  replaced: StalledHolder | undefined,
): Takeover {
  const recovered = attempt.recovered !== undefined || replaced !== undefined;
  return { kind: "acquired", lock: attempt.lock, recovered, replaced };
}

/** A holder that is only late because the machine slept gets its poll first. */
async function observeRefusal(
  setup: TakeoverSetup,
  holder: Pid | undefined,
): Promise<Refusal | StalledHolder> {
  const refusal = refusalNow(setup, holder);
  if (refusal.kind === "already-running") return refusal;
  const { home, environment, look } = setup;
  const fact = await observeWatcher(home, graceVariables(environment), look());
  await withBeatGrace(fact, { state: home.state });
  return refusalNow(setup, holder);
}

function refusalNow(
  { home: { state }, settings }: TakeoverSetup,
  holder: Pid | undefined,
): Refusal | StalledHolder {
  const beacon = observeBeacon(state);
  return judgeRefusal({
    holder,
    beatAgeSeconds: beacon.kind === "beat" ? beacon.ageSeconds : undefined,
    lockAgeSeconds: ageSeconds(`${state}/${WATCH_LOCK_NAME}`),
    staleGraceSeconds: settings.staleGraceSeconds,
    stallBoundSeconds: settings.stallBoundSeconds,
  });
}

/** Whether the lock names that pid, for this home and this path, and its identity matches. */
export async function isProvenHolder(
  { home, look }: Pick<TakeoverSetup, "home" | "look">,
  pid: Pid,
): Promise<boolean> {
  // The beacon plays no part in this proof, so neither do the variables of its grace.
  const variables = { FM_GUARD_GRACE: undefined, FM_POLL: undefined };
  return provenWatcher(await observeWatcher(home, variables, look())) === pid;
}

/** Sends one TERM to a proven holder and waits until that process is gone, or its lock is. */
export async function retireHolder(
  setup: Pick<TakeoverSetup, "home" | "look">,
  pid: Pid,
): Promise<boolean> {
  try {
    Deno.kill(pid, "SIGTERM");
  } catch {
    return liveness(pid) !== "alive";
  }
  for (let waitedMs = 0; waitedMs < RETIREMENT_LIMIT_MS; waitedMs += RETIREMENT_STEP_MS) {
    await new Promise((resolve) => setTimeout(resolve, RETIREMENT_STEP_MS));
    if (liveness(pid) !== "alive" || !await isProvenHolder(setup, pid)) return true;
  }
  return false;
}
