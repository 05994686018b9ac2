/** Following a watcher that somebody else runs, from one to its successor, until there is no more. */

import {
  type HealthyWatcher,
  healthyWatcher,
  isSameWatcher,
  judgeAttached,
} from "../decide/attached_watcher.ts";
import type { WatcherFact } from "../decide/facts.ts";
import { judgeFreshness } from "../decide/freshness.ts";
import { flatGrace } from "../decide/grace.ts";
import { fractionSetting, numberSetting } from "../decide/number.ts";
import { observeBeacon } from "../observe/beacon.ts";
import type { Home } from "../observe/home.ts";
import { graceVariables } from "../observe/turn_end.ts";
import { observeWatcher, WATCH_LOCK_NAME } from "../observe/watcher.ts";
import type { Bell } from "../platform/bell.ts";
import type { Environment } from "../platform/environment.ts";
import { readCapture } from "../platform/file_text.ts";
import { liveness } from "../platform/liveness.ts";
import { parsePid } from "../platform/pid.ts";
import type { Processes } from "../platform/processes.ts";
import { lastDelivery } from "./deliveries.ts";
import { watcherSettings } from "./watcher_settings.ts";

/** What looking for a watcher and following it needs. */
export interface FollowSetup {
  readonly home: Home;
  /** Its grace, timeout, poll and stall bound count. */
  readonly environment: Environment;
  readonly look: () => Processes;
  /** Rung when the following is to stop; `stopping` tells the same. */
  readonly bell: Bell;
  readonly stopping: () => boolean;
  /** Called before another watcher than so far is followed. */
  readonly moved: (to: HealthyWatcher, because: "replaced" | "ended") => Promise<void>;
}

/** Why a following came to its end. */
export type FollowEnd =
  | { readonly kind: "stopped" }
  /** The watcher lives, but is stuck; it was not signalled. */
  | {
    readonly kind: "stalled";
    readonly watcher: HealthyWatcher;
    readonly ageSeconds: number;
    readonly boundSeconds: number;
  }
  /** It told somebody else a wake, and nobody watches any more. */
  | { readonly kind: "delivered"; readonly reason: string }
  | { readonly kind: "nothing-delivered" };

/** Milliseconds between two looks for a watcher that may be starting. */
export const CONFIRM_STEP_MS = 200;

/** Milliseconds that a watcher is given to be confirmed. */
export function confirmLimitMs(environment: Environment): number {
  const text = environment.get("FM_ARM_CONFIRM_TIMEOUT");
  const fallback = Deno.build.os === "windows" ? 30 : 10;
  return (numberSetting(text, "digits", fallback).value + 1) * 1000;
}

/** Milliseconds between two looks at the watcher that is followed. */
function attachPollMs(environment: Environment): number {
  const seconds = fractionSetting(environment.get("FM_ARM_ATTACH_POLL"), DEFAULT_POLL_SECONDS);
  return (seconds > 0 ? seconds : DEFAULT_POLL_SECONDS) * 1000;
}

const DEFAULT_POLL_SECONDS = 0.5;

/** What is known about the home's watch lock and beacon. */
export async function observeWatch(
  { home, environment, look }: Pick<FollowSetup, "home" | "environment" | "look">,
): Promise<WatcherFact> {
  return await observeWatcher(home, graceVariables(environment), look());
}

/** The healthy watcher of the home, if it has one. */
export async function lookForWatcher(setup: FollowSetup): Promise<HealthyWatcher | undefined> {
  return healthyWatcher(await observeWatch(setup));
}

/** Waits for any healthy watcher as long as one is given to be confirmed. */
export async function awaitWatcher(setup: FollowSetup): Promise<HealthyWatcher | undefined> {
  const end = performance.now() + confirmLimitMs(setup.environment);
  while (!setup.stopping()) {
    const watcher = await lookForWatcher(setup);
    if (watcher !== undefined || performance.now() >= end) return watcher;
    await setup.bell.within(CONFIRM_STEP_MS);
  }
  return undefined;
}

/** Follows `first`, and whoever comes after it. */
export async function followWatcher(
  setup: FollowSetup,
  first: HealthyWatcher,
): Promise<FollowEnd> {
  const boundSeconds = watcherSettings(setup.environment).stallBoundSeconds;
  let followed = first;
  let healthyMs = performance.now();
  while (!setup.stopping()) {
    // Taken before the proof, so that no change falls between the two.
    const before = glance(setup, boundSeconds);
    const verdict = judgeAttached({
      watcher: await observeWatch(setup),
      followed,
      unhealthySeconds: Math.floor((performance.now() - healthyMs) / 1000),
      boundSeconds,
    });
    switch (verdict.kind) {
      case "stalled":
        return { ...verdict, watcher: followed };
      case "gone": {
        const successor = await awaitWatcher(setup);
        if (setup.stopping()) return { kind: "stopped" };
        if (successor === undefined) return await lastWords(setup, followed);
        // The same one again: what made it look gone has passed.
        if (!isSameWatcher(successor, followed)) await setup.moved(successor, "ended");
        followed = successor;
        healthyMs = performance.now();
        break;
      }
      case "healthy":
        if (!isSameWatcher(verdict.watcher, followed)) {
          await setup.moved(verdict.watcher, "replaced");
        }
        followed = verdict.watcher;
        healthyMs = performance.now();
        await whileNothingChanges(setup, boundSeconds, before);
        break;
      case "slow":
        await whileNothingChanges(setup, boundSeconds, before);
        break;
    }
  }
  return { kind: "stopped" };
}

/** What a watcher that is gone had told somebody, if anything: that is the end of this watch, too. */
async function lastWords(setup: FollowSetup, watcher: HealthyWatcher): Promise<FollowEnd> {
  const reason = await lastDelivery(setup.home.state, watcher);
  return reason === undefined ? { kind: "nothing-delivered" } : { kind: "delivered", reason };
}

/** Milliseconds for which what can be seen without a program stands in for the full proof. */
const PROOF_LASTS_MS = 10_000;

/**
 * Waits for as long as nothing changes that can be seen without starting a program.
 *
 * The full proof starts one, and a pid may have been reused in between, so it is asked for now and
 * then in any case.
 */
async function whileNothingChanges(
  setup: FollowSetup,
  boundSeconds: number,
  before: string | undefined,
): Promise<void> {
  const stepMs = attachPollMs(setup.environment);
  const end = performance.now() + PROOF_LASTS_MS;
  do {
    await setup.bell.within(stepMs);
  } while (
    !setup.stopping() && performance.now() < end && before !== undefined &&
    glance(setup, boundSeconds) === before
  );
}

/** The watch as files and a signal tell it; `undefined` when its holder is not alive. */
function glance(
  { home: { state }, environment }: FollowSetup,
  boundSeconds: number,
): string | undefined {
  const [pid, identity] = ["pid", "pid-identity"].map((name) => {
    const recorded = readCapture(`${state}/${WATCH_LOCK_NAME}/${name}`);
    return recorded.kind === "text" ? recorded.text : "";
  });
  const holder = parsePid(pid ?? "");
  if (holder === undefined || liveness(holder) !== "alive") return undefined;
  const beacon = observeBeacon(state);
  const beat = judgeFreshness(beacon, flatGrace(graceVariables(environment)).value).kind;
  const overdue = beacon.kind !== "beat" || beacon.ageSeconds >= boundSeconds;
  return `${holder} ${beat} ${overdue} ${identity}`;
}
