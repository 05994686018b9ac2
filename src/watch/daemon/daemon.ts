/** The away daemon: runs one watcher after the other, handles every wake itself, and tells in digests. */

import { afterCrash } from "../../decide/daemon_restart.ts";
import { isWakeLine } from "../../decide/wake_line.ts";
import { daemonLockPath, observeAwayMode } from "../../observe/daemon.ts";
import type { Home } from "../../observe/home.ts";
import { Bell } from "../../platform/bell.ts";
import type { Environment } from "../../platform/environment.ts";
import { errorMessage } from "../../platform/file_text.ts";
import { ownPid, type Processes } from "../../platform/processes.ts";
import { clearEscalations } from "../../state/escalations.ts";
import { type HeldLock, tryLock } from "../../state/lock.ts";
import { removeQuietly, replaceFile } from "../../state/replace_file.ts";
import { homeScript } from "../home_script.ts";
import type { ClassifySetup } from "./classify.ts";
import { daemonLog, type Log } from "./daemon_log.ts";
import { type DaemonSettings, daemonSettings } from "./daemon_settings.ts";
import { WEDGED_NAME } from "./delivery.ts";
import { handleWakes } from "./handle_wakes.ts";
import { Housekeeping } from "./housekeeping.ts";
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
    await recordIdentity(setup, lock, log);
    if (settings.deliver !== undefined && !isExecutable(settings.deliver)) {
      log(`the delivery program is not executable: ${settings.deliver}`);
      return { kind: "no-program", path: settings.deliver };
    }
    if (setup.anew) forgetEarlier(state, log);
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

class Daemon {
  readonly #setup: DaemonSetup;
  readonly #lock: HeldLock;
  readonly #settings: DaemonSettings;
  readonly #log: Log;
  readonly #classify: ClassifySetup;
  readonly #housekeeping: Housekeeping;
  readonly #bell = new Bell();
  #stopping = false;
  #watcher: WatcherChild | undefined;
  #crashes: readonly number[] = [];

  constructor(setup: DaemonSetup, settings: DaemonSettings, log: Log, lock: HeldLock) {
    const { home: { state, config }, stop } = setup;
    this.#setup = setup;
    this.#lock = lock;
    this.#settings = settings;
    this.#log = log;
    this.#classify = { state, skip: settings.skip, reports: settings.reports };
    this.#housekeeping = new Housekeeping({
      config,
      settings,
      classify: this.#classify,
      log,
      stop,
      isStopping: () => this.#stopping,
    });
    void stop.then(() => {
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
      await this.#housekeeping.whenDue();
    }
    // While the mode is still on, that is before whoever stops this takes it away.
    await this.#housekeeping.lastAttempt();
    await this.#watcher?.stop();
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
        errors: `${this.#setup.home.state}/.supervise-daemon.watcher.err`,
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
    const { environment, look } = this.#setup;
    const wakes = { environment, look, classify: this.#classify, log: this.#log };
    const handled = await handleWakes(wakes, reason);
    // The next watcher tells of kept rows at once: what goes on failing must not spin.
    if (handled === "kept") await this.#pause(this.#settings.restart.normalSeconds * 1000);
    await this.#housekeeping.afterWake();
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
}

function watcherCommand(home: Home): readonly string[] {
  const script = homeScript(home.root, "fm-watch.sh");
  return script === undefined ? [Deno.execPath(), "watch", "--root", home.root] : [script];
}
