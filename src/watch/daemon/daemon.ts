/** The away daemon: runs one watcher after the other, handles every wake itself, and tells in digests. */

import { acknowledgeWakes, presentWakes } from "../../act/wake_drain.ts";
import { afterCrash } from "../../decide/daemon_restart.ts";
import { isWakeLine, wakeKind } from "../../decide/wake_line.ts";
import { observeReservedRows } from "../../observe/branch_grant.ts";
import { daemonLockPath, observeAwayMode } from "../../observe/daemon.ts";
import type { Home } from "../../observe/home.ts";
import { Bell } from "../../platform/bell.ts";
import type { Environment } from "../../platform/environment.ts";
import { errorMessage } from "../../platform/file_text.ts";
import { targetKind } from "../../platform/path_kind.ts";
import { ownPid, type Processes } from "../../platform/processes.ts";
import { clearEscalations, escalationAge, shiftEscalationAge } from "../../state/escalations.ts";
import { type HeldLock, tryLock } from "../../state/lock.ts";
import { removeQuietly, replaceFile } from "../../state/replace_file.ts";
import { queuePaths } from "../../state/wake_queue.ts";
import { dueAgeSeconds } from "../checks/cadence.ts";
import { ClockWatch, shiftTimes } from "../clock_watch.ts";
import { homeScript } from "../home_script.ts";
import { touch } from "../touch.ts";
import { raiseWedgeAlarm } from "./alarm.ts";
import { type ClassifySetup, classifyWake, scanLogs } from "./classify.ts";
import { daemonLog, type Log } from "./daemon_log.ts";
import { type DaemonSettings, daemonSettings } from "./daemon_settings.ts";
import { type Flush, flushEscalations, WEDGED_NAME } from "./delivery.ts";
import { makeWay } from "./make_way.ts";
import { WatcherChild, type WatcherExit } from "./watcher_child.ts";

/** Name of a file that tells people the daemon's pid; nothing trusts it. */
const PID_NAME = ".supervise-daemon.pid";

/** What the daemon needs. */
export interface DaemonSetup {
  readonly home: Home;
  readonly environment: Environment;
  readonly look: () => Processes;
  /** Whether what an earlier daemon left undelivered is forgotten; what still holds is found again. */
  readonly anew: boolean;
  /** Resolves when it is to end. */
  readonly stop: Promise<unknown>;
}

/** How the daemon's life ended, or why it never began. */
export type DaemonEnd =
  | { readonly kind: "already-running"; readonly pid: number | undefined }
  | { readonly kind: "no-program"; readonly path: string }
  | { readonly kind: "stopped" }
  /** Somebody took the lock away, or the home with it; whoever holds it now supervises. */
  | { readonly kind: "lost-lock" };

/** Supervises until it is told to stop. */
export async function runDaemon(setup: DaemonSetup): Promise<DaemonEnd> {
  const { home: { state }, environment, look } = setup;
  await makeWay(state, look);
  const attempt = tryLock(daemonLockPath(state));
  if (attempt.kind === "refused") return { kind: "already-running", pid: attempt.holder };
  const { lock } = attempt;
  const settings = daemonSettings(environment);
  const log = daemonLog(state, settings.log);
  let ours = true;
  try {
    replaceFile(`${state}/${PID_NAME}`, `${Deno.pid}\n`);
    if (setup.anew) forgetEarlier(state, log);
    await recordIdentity(setup, lock, log);
    if (settings.deliver !== undefined && !isExecutable(settings.deliver)) {
      log(`the delivery program is not executable: ${settings.deliver}`);
      return { kind: "no-program", path: settings.deliver };
    }
    log(startLine(state, settings));
    await new Daemon(setup, settings, log, lock).run();
    ours = lock.isOurs();
    log(ours ? "daemon shutting down" : "the daemon's lock is somebody else's; ending");
    return { kind: ours ? "stopped" : "lost-lock" };
  } finally {
    lock.release();
    // Another daemon's by then, when the lock is.
    if (ours) removeQuietly(`${state}/${PID_NAME}`);
  }
}

function forgetEarlier(state: string, log: Log): void {
  try {
    clearEscalations(state);
  } catch (error) {
    log(`an earlier digest could not be forgotten: ${errorMessage(error)}`);
  }
  removeQuietly(`${state}/${WEDGED_NAME}`);
}

/** Without its identity the guard cannot recognise this daemon; it supervises all the same. */
async function recordIdentity(setup: DaemonSetup, lock: HeldLock, log: Log): Promise<void> {
  const own = await setup.look().identity(ownPid());
  try {
    if (own.kind === "known") return lock.write("pid-identity", own.identity);
  } catch {
    // Told below like an identity that cannot be read.
  }
  removeQuietly(`${lock.path}/pid-identity`);
  log(
    "warn: could not record this daemon's process identity; " +
      "the turn-end guard cannot recognise the away-mode supervision and keeps blocking",
  );
}

function isExecutable(path: string): boolean {
  try {
    const info = Deno.statSync(path);
    return info.isFile && ((info.mode ?? 0) & 0o111) !== 0;
  } catch {
    return false;
  }
}

function startLine(state: string, settings: DaemonSettings): string {
  return [
    `daemon started: pid=${Deno.pid}`,
    `mode=${observeAwayMode(state)}`,
    `delivery=${settings.deliver === undefined ? "none" : "program"}`,
    `batch=${settings.batchSeconds}s`,
    `max-defer=${settings.maximumDeferSeconds}s`,
    `scan=${settings.scanSeconds}s`,
    `tick=${settings.housekeepingSeconds}s`,
  ].join(" ");
}

/** Milliseconds between two turns of the loop. */
const TURN_MS = 1_000;

/** Milliseconds to wait when a watcher could not even be started. */
const START_FAILURE_MS = 5_000;

/** Files whose times are deadlines. */
const LAST_SCAN_NAME = ".subsuper-last-scan";
const LAST_HOUSEKEEPING_NAME = ".subsuper-last-housekeep";

class Daemon {
  readonly #setup: DaemonSetup;
  readonly #lock: HeldLock;
  readonly #settings: DaemonSettings;
  readonly #log: Log;
  readonly #state: string;
  readonly #classify: ClassifySetup;
  readonly #bell = new Bell();
  readonly #clock = new ClockWatch();
  #stopping = false;
  /** Whether the last attempt ended after the stop, and so was the last one. */
  #triedAtStop = false;
  /** What the last attempt came to. */
  #flushed: Flush = "empty";
  #watcher: WatcherChild | undefined;
  #crashes: readonly number[] = [];
  /** When somebody was alarmed last, by `performance.now()`: the marker may not be writable. */
  #alarmedMs = -Infinity;

  constructor(setup: DaemonSetup, settings: DaemonSettings, log: Log, lock: HeldLock) {
    this.#setup = setup;
    this.#lock = lock;
    this.#settings = settings;
    this.#log = log;
    this.#state = setup.home.state;
    this.#classify = { state: this.#state, skip: settings.skip, reports: settings.reports };
    void setup.stop.then(() => {
      this.#stopping = true;
      this.#bell.ring();
    });
  }

  async run(): Promise<void> {
    while (!this.#stopping) {
      if (!this.#lock.isOurs()) return await this.#watcher?.stop();
      if (this.#watcher === undefined || this.#watcher.exit !== undefined) await this.#next();
      if (this.#stopping) break;
      if (this.#watcher?.exit === undefined) await this.#bell.within(TURN_MS);
      await this.#housekeepWhenDue();
    }
    await this.#shutDown();
  }

  /** Handles the watcher that has ended, if one has, and starts the next. */
  async #next(): Promise<void> {
    const exit = this.#watcher?.exit;
    this.#watcher = undefined;
    if (exit !== undefined) await this.#handle(exit);
    if (this.#stopping) return;
    try {
      this.#watcher = new WatcherChild({
        command: watcherCommand(this.#setup.home),
        watcherPath: this.#setup.home.watcherPath,
        errors: `${this.#state}/.supervise-daemon.watcher.err`,
        bell: this.#bell,
      });
    } catch (error) {
      this.#log(`no watcher could be started: ${errorMessage(error)}`);
      await this.#pause(START_FAILURE_MS);
    }
  }

  async #handle({ status, output }: WatcherExit): Promise<void> {
    if (status !== 0 || output === "") return await this.#crashed(status, output);
    // Other lines may stand in front: a watcher tells whom it has replaced.
    const reason = output.split("\n").find(isWakeLine);
    if (reason === undefined) {
      this.#log(`no wake: ${output.trim()}`);
      return await this.#pause(this.#settings.housekeepingSeconds * 1000);
    }
    this.#log(`wake: ${reason}`);
    const handled = await this.#handleWakes(reason);
    // The next watcher tells of kept rows at once: what goes on failing must not spin.
    if (handled === "kept") await this.#pause(this.#settings.restart.normalSeconds * 1000);
    if (this.#settings.batchSeconds <= 0) await this.#flush();
  }

  async #crashed(status: number, output: string): Promise<void> {
    const restart = afterCrash(this.#crashes, performance.now() / 1000, this.#settings.restart);
    this.#crashes = restart.times;
    const { waitSeconds } = restart;
    this.#log(
      restart.kind === "back-off"
        ? `ERROR: watcher crashed ${restart.crashes} times within ` +
          `${this.#settings.restart.windowSeconds}s; backing off ${waitSeconds}s`
        : `watcher exited rc=${status} reason='${output.trim()}'; restarting after ${waitSeconds}s`,
    );
    await this.#pause(waitSeconds * 1000);
  }

  /** Waits, and no longer than until it is to stop. */
  async #pause(ms: number): Promise<void> {
    const until = performance.now() + ms;
    while (!this.#stopping && performance.now() < until) {
      await this.#bell.within(until - performance.now());
    }
  }

  /** A row is acknowledged only after its item is buffered, or was found to need nothing. */
  async #handleWakes(reason: string): Promise<"handled" | "kept"> {
    const { environment, look } = this.#setup;
    const paths = queuePaths(this.#state, environment);
    const shown = await presentWakes({
      paths,
      reserved: () => observeReservedRows(this.#state, look()),
    });
    if (shown.kind !== "presented") {
      const because = shown.kind === "unable" ? `: ${shown.because}` : ` (${shown.kind})`;
      this.#log(
        `durable wake handling was not acknowledged; restarting for recovery${because}`,
      );
      return "kept";
    }
    const payloads = shown.rows
      .filter((row) => /^[0-9]+$/.test(row.epoch) && wakeKind(row.kind + ":") !== undefined)
      .map((row) => row.payload);
    try {
      for (const payload of payloads.length > 0 ? payloads : [reason]) {
        classifyWake(this.#classify, payload);
      }
    } catch (error) {
      this.#log(`wake classification failed; retaining durable wakes: ${errorMessage(error)}`);
      return "kept";
    }
    if (shown.handling === undefined) {
      this.#log("nothing was there to acknowledge");
      return "handled";
    }
    const done = await acknowledgeWakes({ paths, ...shown.handling });
    if (done.kind === "acknowledged") return "handled";
    this.#log(`the wakes were not acknowledged: ${done.kind}`);
    return "kept";
  }

  async #housekeepWhenDue(): Promise<void> {
    this.#mindTheClock();
    const path = `${this.#state}/${LAST_HOUSEKEEPING_NAME}`;
    if (this.#stopping || dueAgeSeconds(path) < this.#settings.housekeepingSeconds) return;
    try {
      touch(path);
      await this.#housekeep();
    } catch (error) {
      this.#log(`housekeeping failed: ${errorMessage(error)}`);
    }
  }

  /** Deadlines are counted in time awake, so that not all of them fall due when a machine wakes up. */
  #mindTheClock(): void {
    const seconds = this.#clock.jumpSeconds();
    if (seconds === 0) return;
    this.#log(`the clock moved by ${Math.round(seconds)}s`);
    const names = [LAST_SCAN_NAME, LAST_HOUSEKEEPING_NAME, WEDGED_NAME];
    shiftTimes(names.map((name) => `${this.#state}/${name}`), seconds);
    try {
      shiftEscalationAge(this.#state, seconds);
    } catch {
      // The digest goes out early.
    }
  }

  async #housekeep(): Promise<void> {
    const { batchSeconds, scanSeconds } = this.#settings;
    const age = escalationAge(this.#state);
    if (age !== undefined && (batchSeconds <= 0 || age >= batchSeconds)) await this.#flush();
    // What a stop found under way was the last of it.
    if (!this.#stopping) await this.#mindTheDeferred();
    if (this.#stopping) return;
    const scan = `${this.#state}/${LAST_SCAN_NAME}`;
    if (dueAgeSeconds(scan) < scanSeconds) return;
    touch(scan);
    scanLogs(this.#classify);
  }

  async #mindTheDeferred(): Promise<void> {
    const { maximumDeferSeconds: limit } = this.#settings;
    const age = escalationAge(this.#state);
    const marker = `${this.#state}/${WEDGED_NAME}`;
    // Whatever the alarm was about is gone.
    if (age === undefined) removeQuietly(marker);
    const alarmed = performance.now() - this.#alarmedMs < limit * 1000 ||
      (targetKind(marker) !== "absent" && dueAgeSeconds(marker) < limit);
    if (observeAwayMode(this.#state) === "off" || limit === 0 || age === undefined) return;
    if (age < limit || alarmed) return;
    if (await this.#flush() === "delivered") return;
    this.#alarmedMs = performance.now();
    const { home: { config }, stop } = this.#setup;
    await raiseWedgeAlarm({
      state: this.#state,
      config,
      settings: this.#settings,
      log: this.#log,
      stop,
    }, Number.isFinite(age) ? age : limit);
  }

  async #flush(): Promise<Flush> {
    const { deliver } = this.#settings;
    const flush = await flushEscalations({ state: this.#state, program: deliver });
    this.#triedAtStop = this.#stopping;
    if (flush === "delivered") this.#log("digest delivered");
    // Once for all attempts in a row that come to the same.
    if (flush === "refused" && flush !== this.#flushed) {
      this.#log("digest not taken; it is tried again");
    }
    if (flush === "unreadable" && flush !== this.#flushed) {
      this.#log("ERROR: the digest cannot be read; see state/.subsuper-escalations");
    }
    this.#flushed = flush;
    return flush;
  }

  /** One attempt more while the mode is still on, then the watcher. */
  async #shutDown(): Promise<void> {
    if (!this.#triedAtStop) await this.#flush();
    await this.#watcher?.stop();
  }
}

function watcherCommand(home: Home): readonly string[] {
  const script = homeScript(home.root, "fm-watch.sh");
  return script === undefined ? [Deno.execPath(), "watch", "--root", home.root] : [script];
}
