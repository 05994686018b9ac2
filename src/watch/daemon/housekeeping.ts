/** What the away daemon does between wakes: deliver, alarm, and look for what no wake has told. */

import { observeAwayMode } from "../../observe/daemon.ts";
import { errorMessage } from "../../platform/file_text.ts";
import { targetKind } from "../../platform/path_kind.ts";
import { escalationAge, shiftEscalationAge } from "../../state/escalations.ts";
import { removeQuietly } from "../../state/replace_file.ts";
import { dueAgeSeconds } from "../checks/cadence.ts";
import { ClockWatch, shiftTimes } from "../clock_watch.ts";
import { touch } from "../touch.ts";
import { raiseWedgeAlarm } from "./alarm.ts";
import { type ClassifySetup, scanLogs } from "./classify.ts";
import type { Log } from "./daemon_log.ts";
import type { DaemonSettings } from "./daemon_settings.ts";
import { type Flush, flushEscalations, WEDGED_NAME } from "./delivery.ts";

/** Files whose times are deadlines. */
const LAST_SCAN_NAME = ".subsuper-last-scan";
const LAST_HOUSEKEEPING_NAME = ".subsuper-last-housekeep";

/** What it needs. */
export interface HousekeepingSetup {
  readonly config: string;
  readonly settings: DaemonSettings;
  readonly classify: ClassifySetup;
  readonly log: Log;
  /** Resolves when the daemon is to end. */
  readonly stop: Promise<unknown>;
  readonly isStopping: () => boolean;
}

/** The housekeeping of one daemon. */
export class Housekeeping {
  readonly #setup: HousekeepingSetup;
  readonly #state: string;
  readonly #clock = new ClockWatch();
  /** Whether the last attempt ended after the stop, and so was the last one. */
  #triedAtStop = false;
  /** What the last attempt came to. */
  #flushed: Flush = "empty";
  /** Moments of `performance.now()`, for a state whose files cannot be written. */
  #notBeforeMs = -Infinity;
  #alarmedMs = -Infinity;

  constructor(setup: HousekeepingSetup) {
    this.#setup = setup;
    this.#state = setup.classify.state;
  }

  /** Does what is due. What goes wrong is logged: it never ends the daemon. */
  async whenDue(): Promise<void> {
    const { settings: { housekeepingSeconds }, log, isStopping } = this.#setup;
    this.#mindTheClock();
    const path = this.#path(LAST_HOUSEKEEPING_NAME);
    if (isStopping() || dueAgeSeconds(path) < housekeepingSeconds) return;
    if (performance.now() < this.#notBeforeMs) return;
    this.#notBeforeMs = isTouched(path)
      ? -Infinity
      : performance.now() + housekeepingSeconds * 1000;
    try {
      await this.#deliverBatch();
      await this.#alarmWhenStuck();
      this.#scanWhenDue();
    } catch (error) {
      log(`housekeeping failed: ${errorMessage(error)}`);
    }
  }

  /** Without batching a wake's items go out as soon as it is handled. */
  async afterWake(): Promise<void> {
    if (this.#setup.settings.batchSeconds <= 0) await this.#attempt();
  }

  /** The one attempt of a daemon that ends, unless the stop found it under way. */
  async lastAttempt(): Promise<void> {
    if (!this.#triedAtStop) await this.#attempt();
  }

  /** Deadlines are counted in time awake, so that not all of them fall due when a machine wakes up. */
  #mindTheClock(): void {
    const seconds = this.#clock.jumpSeconds();
    if (seconds === 0) return;
    this.#setup.log(`the clock moved by ${Math.round(seconds)}s`);
    const names = [LAST_SCAN_NAME, LAST_HOUSEKEEPING_NAME, WEDGED_NAME];
    shiftTimes(names.map((name) => this.#path(name)), seconds);
    try {
      shiftEscalationAge(this.#state, seconds);
    } catch {
      // The digest goes out early.
    }
  }

  async #deliverBatch(): Promise<void> {
    const age = escalationAge(this.#state);
    if (age !== undefined && age >= this.#setup.settings.batchSeconds) await this.#attempt();
  }

  async #alarmWhenStuck(): Promise<void> {
    const { config, settings, log, stop, isStopping } = this.#setup;
    const { maximumDeferSeconds: limit } = settings;
    const age = escalationAge(this.#state);
    const marker = this.#path(WEDGED_NAME);
    // Whatever the alarm was about is gone.
    if (age === undefined) removeQuietly(marker);
    if (isStopping() || observeAwayMode(this.#state) === "off" || limit === 0) return;
    if (age === undefined || age < limit || this.#hasAlarmed(marker, limit)) return;
    if (await this.#attempt() === "delivered") return;
    this.#alarmedMs = performance.now();
    const ageSeconds = Number.isFinite(age) ? age : limit;
    await raiseWedgeAlarm({ state: this.#state, config, settings, log, stop }, ageSeconds);
  }

  #hasAlarmed(marker: string, limitSeconds: number): boolean {
    return performance.now() - this.#alarmedMs < limitSeconds * 1000 ||
      (targetKind(marker) !== "absent" && dueAgeSeconds(marker) < limitSeconds);
  }

  #scanWhenDue(): void {
    const { settings: { scanSeconds }, classify, isStopping } = this.#setup;
    const path = this.#path(LAST_SCAN_NAME);
    if (isStopping() || dueAgeSeconds(path) < scanSeconds) return;
    touch(path);
    scanLogs(classify);
  }

  async #attempt(): Promise<Flush> {
    const { settings: { deliver }, log, isStopping } = this.#setup;
    const flush = await flushEscalations({ state: this.#state, program: deliver });
    this.#triedAtStop = isStopping();
    if (flush === "delivered") log("digest delivered");
    // Once for all attempts in a row that come to the same.
    if (flush === "refused" && flush !== this.#flushed) {
      log("digest not taken; it is tried again");
    }
    if (flush === "unreadable" && flush !== this.#flushed) {
      log("ERROR: the digest cannot be read; see state/.subsuper-escalations");
    }
    this.#flushed = flush;
    return flush;
  }

  #path(name: string): string {
    return `${this.#state}/${name}`;
  }
}

function isTouched(path: string): boolean {
  try {
    touch(path);
    return true;
  } catch {
    return false;
  }
}
