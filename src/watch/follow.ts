/** Following a watcher that somebody else runs, from one to its successor, until there is no more. */

import { withBeatGrace } from "../act/beat_grace.ts";
import {
  type AttachedVerdict,
  type HealthyWatcher,
  healthyWatcher,
  isSameWatcher,
  judgeAttached,
  silenceSeconds,
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
  return await new Following(setup, first).run();
}

/** Milliseconds for which what can be seen without a program stands in for the full proof. */
const PROOF_LASTS_MS = 10_000;

class Following {
  readonly #setup: FollowSetup;
  readonly #boundSeconds: number;
  readonly #graceSeconds: number;
  readonly #pollMs: number;
  #followed: HealthyWatcher;
  /** When the followed watcher was last seen healthy. */
  #healthyMs = performance.now();

  constructor(setup: FollowSetup, first: HealthyWatcher) {
    const { environment } = setup;
    this.#setup = setup;
    this.#boundSeconds = watcherSettings(environment).stallBoundSeconds;
    this.#graceSeconds = flatGrace(graceVariables(environment)).value;
    this.#pollMs = attachPollMs(environment);
    this.#followed = first;
  }

  async run(): Promise<FollowEnd> {
    while (!this.#setup.stopping()) {
      // Taken before the proof, so that no change falls between the two.
      const before = this.#glance();
      const verdict = await this.#judge();
      if (this.#setup.stopping()) break;
      switch (verdict.kind) {
        case "stalled":
          return { ...verdict, watcher: this.#followed };
        case "gone": {
          const successor = await awaitWatcher(this.#setup);
          if (this.#setup.stopping()) return { kind: "stopped" };
          if (successor === undefined) return await this.#lastWords();
          await this.#follow(successor, "ended");
          break;
        }
        case "healthy":
          await this.#follow(verdict.watcher, "replaced");
          await this.#whileItLooksLike(before);
          break;
        case "slow":
          await this.#whileItLooksLike(before);
          break;
      }
    }
    return { kind: "stopped" };
  }

  /** Looks once; a watcher that only seems stuck because the machine slept gets its poll first. */
  async #judge(): Promise<AttachedVerdict> {
    const fact = await observeWatch(this.#setup);
    const verdict = this.#verdictOn(fact);
    if (verdict.kind !== "stalled") return verdict;
    const { home: { state }, bell, stopping } = this.#setup;
    let graced: WatcherFact | undefined;
    const waiting = withBeatGrace(fact, { state }).then((later) => {
      graced = later;
      bell.ring();
    });
    while (graced === undefined && !stopping()) await bell.within(CONFIRM_STEP_MS);
    if (graced !== undefined) await waiting;
    return this.#verdictOn(graced ?? fact);
  }

  #verdictOn(watcher: WatcherFact): AttachedVerdict {
    return judgeAttached({
      watcher,
      followed: this.#followed,
      unhealthySeconds: this.#unhealthySeconds(),
      boundSeconds: this.#boundSeconds,
    });
  }

  /** `watcher` is healthy. It may be the same one as before, if what made it look gone has passed. */
  async #follow(watcher: HealthyWatcher, because: "replaced" | "ended"): Promise<void> {
    if (!isSameWatcher(watcher, this.#followed)) await this.#setup.moved(watcher, because);
    this.#followed = watcher;
    this.#healthyMs = performance.now();
  }

  /** What a watcher that is gone had told somebody, if anything: it ends this watch, too. */
  async #lastWords(): Promise<FollowEnd> {
    const reason = await lastDelivery(this.#setup.home.state, this.#followed);
    return reason === undefined ? { kind: "nothing-delivered" } : { kind: "delivered", reason };
  }

  /**
   * Waits for as long as nothing changes that can be seen without starting a program.
   *
   * The full proof starts one, and a pid may have been reused in between, so it is asked for now and
   * then in any case.
   */
  async #whileItLooksLike(before: string | undefined): Promise<void> {
    const { bell, stopping } = this.#setup;
    const end = performance.now() + PROOF_LASTS_MS;
    do {
      await bell.within(this.#pollMs);
    } while (
      !stopping() && performance.now() < end && before !== undefined && this.#glance() === before
    );
  }

  /** The watch as files and a signal tell it; `undefined` when its holder is not alive. */
  #glance(): string | undefined {
    const { state } = this.#setup.home;
    const [pid = "", identity = ""] = ["pid", "pid-identity"].map((name) => {
      const recorded = readCapture(`${state}/${WATCH_LOCK_NAME}/${name}`);
      return recorded.kind === "text" ? recorded.text : "";
    });
    const holder = parsePid(pid);
    if (holder === undefined || liveness(holder) !== "alive") return undefined;
    const beacon = observeBeacon(state);
    const beat = judgeFreshness(beacon, this.#graceSeconds).kind;
    const overdue = silenceSeconds(beacon, this.#unhealthySeconds()) >= this.#boundSeconds;
    return `${holder} ${beat} ${overdue} ${identity}`;
  }

  #unhealthySeconds(): number {
    return Math.floor((performance.now() - this.#healthyMs) / 1000);
  }
}
