/** Watching one target until it ends, by itself or not. */

import type { ActivityState } from "../../decide/activity/activity_state.ts";
import { EntryAges } from "../../decide/watchdog/entry_ages.ts";
import { IdleClock, type LookResult } from "../../decide/watchdog/idle_clock.ts";
import { type HoldFacts, isAfterStop, judgeHolds } from "../../decide/watchdog/judge_holds.ts";
import type { WatchdogOptions } from "../../decide/watchdog/watchdog_options.ts";
import type { Environment } from "../../platform/environment.ts";
import { type ActivityReading, readActivity } from "../read_activity.ts";
import { transcriptAt } from "../transcript_at.ts";
import { endTarget, leftRunning } from "./end_target.ts";
import type { ProgressWatch } from "./progress_watch.ts";
import {
  type EndReason,
  type EndRecord,
  type LookRecord,
  markerOf,
  type RunIdentity,
  writeHeartbeat,
  writeMarker,
} from "./run_record.ts";
import { type ReceivedSignal, SIGNAL_NUMBERS, type SignalInbox } from "./signal_inbox.ts";
import { isSupervised, supervisorPids } from "./supervised_home.ts";
import type { WatchdogLog } from "./watchdog_log.ts";

/** What watching needs besides the run's identity. */
export interface WatchSetup {
  readonly environment: Environment;
  readonly uid: number;
  /** The activity file to read now; a sidecar's session may go on in another one. */
  readonly activityFile: () => Promise<string | undefined>;
  readonly progress: ProgressWatch;
  readonly holdsForPerson: boolean;
  readonly inbox: SignalInbox;
  /** What a received signal means. */
  readonly onSignal: (signal: ReceivedSignal, again: boolean) => SignalMeaning;
  readonly log: WatchdogLog;
  /** Says a line to whoever started the watchdog. */
  readonly say: (line: string) => Promise<void>;
  /** Status of the target once it has ended. */
  readonly status: () => Promise<number>;
}

/** What becomes of a signal that the watchdog received. */
export type SignalMeaning =
  /** Handed on, and the target is ended unless it ends by itself within the grace. */
  | "handed on"
  | "kill at once"
  /** Watching ends, the target goes on. */
  | "stop watching"
  | "nothing";

/** How watching ended. */
export interface WatchEnd {
  readonly end: EndRecord;
  readonly look: LookRecord;
  readonly totals: WatchTotals;
}

/** Counts over the whole run. */
export interface WatchTotals {
  readonly polls: number;
  readonly gaps: number;
  readonly jumps: number;
  readonly cancelled: number;
  readonly holdSeconds: Readonly<Record<string, number>>;
}

/** Never expires anything: ages are kept by a clock that nobody sets. */
const NO_LIMITS = { launchTtl: 0, maxSilence: 0, maxAge: 0, toolMax: 0 };

/** Looks at a sidecar's target that may fail one after the other. */
const UNKNOWN_LIMIT = 3;

/** Watches until there is an end. Throws only what is a fault of the program. */
export async function watchTarget(run: RunIdentity, setup: WatchSetup): Promise<WatchEnd> {
  return await new Watch(run, setup).run();
}

class Watch {
  readonly #run: RunIdentity;
  readonly #setup: WatchSetup;
  readonly #options: WatchdogOptions;
  readonly #clock: IdleClock;
  readonly #ages: EntryAges;
  #look: LookRecord;
  #held = new Set<string>();
  #asked: { readonly signal: ReceivedSignal; readonly until: number } | undefined;
  #unknown = 0;
  #wasTrusted = true;
  #polls = 0;
  #gaps = 0;
  #jumps = 0;
  #cancelled = 0;
  readonly #holdSeconds: Record<string, number> = {};

  constructor(run: RunIdentity, setup: WatchSetup) {
    this.#run = run;
    this.#setup = setup;
    this.#options = run.options;
    this.#clock = new IdleClock(run.options, { mono: mono(), wall: wall() });
    this.#ages = new EntryAges(run.options.limits);
    this.#look = {
      state: undefined,
      idleFor: 0,
      wallFor: 0,
      holds: [],
      killIn: undefined,
      expired: [],
      signal: "none",
    };
  }

  async run(): Promise<WatchEnd> {
    const { inbox, log } = this.#setup;
    log.write({ kind: "start", pid: this.#run.target.pid, file: this.#run.file });
    while (true) {
      const stopped = this.#signals();
      if (stopped !== undefined) return stopped;
      const looked = await this.#lookOnce();
      if (looked === "unreadable") return this.#finish(this.#endOf("exited", "unreadable", 125));
      const { result } = looked;
      if (result.verdict.kind === "exited") return await this.#exited();
      if (result.verdict.kind === "kill") {
        const ended = await this.#kill(result.verdict, looked);
        if (ended !== undefined) return ended;
        continue;
      }
      await Promise.race([
        this.#run.target.ended,
        inbox.arrives(),
        pause(result.verdict.seconds * 1000),
      ]);
    }
  }

  /** Deals with the signals that have arrived; an end when one of them is one. */
  #signals(): WatchEnd | undefined {
    for (let signal = this.#setup.inbox.take(); signal !== undefined;) {
      const again = this.#asked?.signal === signal;
      const meaning = this.#setup.onSignal(signal, again);
      this.#setup.log.write({ kind: "received", signal, meaning });
      if (meaning === "stop watching") {
        const code = 128 + (SIGNAL_NUMBERS[signal] ?? 15);
        return this.#finish(this.#endOf("signal", "watchdog-stopped", code));
      }
      if (meaning === "handed on" && this.#asked === undefined) {
        this.#asked = { signal, until: mono() + this.#options.grace };
      }
      if (meaning === "kill at once") this.#asked = { signal, until: mono() };
      signal = this.#setup.inbox.take();
    }
    return undefined;
  }

  async #lookOnce(): Promise<Looked | "unreadable"> {
    const { environment, progress } = this.#setup;
    const { target } = this.#run;
    const seen = await target.look();
    this.#unknown = seen === "unknown" ? this.#unknown + 1 : 0;
    if (this.#unknown >= UNKNOWN_LIMIT) return "unreadable";
    const reading = await this.#read();
    const state = reading.kind === "state" ? reading.state : undefined;
    const now = { mono: mono(), wall: wall() };
    if (state !== undefined) {
      this.#ages.look(state, { dt: this.#clock.passed(now.mono), wall: now.wall, transcriptAt });
    }
    const facts = await this.#holdFacts(state, environment);
    const afterStop = state !== undefined && isAfterStop(state, this.#ages) &&
      !this.#setup.holdsForPerson;
    const before = this.#clock.wall;
    const result = this.#clock.look({
      ...now,
      targetGone: seen === "gone",
      graceOver: this.#asked !== undefined && now.mono >= this.#asked.until,
      graceIn: this.#asked === undefined ? undefined : Math.max(0, this.#asked.until - now.mono),
      progressAt: progress.newest(reading, now.wall),
      holds: judgeHolds(facts, this.#options.holds),
      afterStop,
    });
    this.#polls += 1;
    this.#tell(result, this.#clock.wall - before);
    this.#look = {
      state,
      idleFor: this.#clock.idle,
      wallFor: this.#clock.wall,
      holds: result.holds,
      killIn: this.#clock.killIn(result.holds, afterStop),
      expired: state === undefined ? [] : this.#ages.subagents(state).expired,
      signal: !this.#clock.seen ? "none" : isDegraded(reading) ? "degraded" : "seen",
    };
    writeHeartbeat(this.#run, this.#look, result.holds.length > 0 ? "holding" : "watching");
    return { result, reading, holdNames: facts.names };
  }

  async #read(): Promise<ActivityReading> {
    const file = await this.#setup.activityFile();
    if (file === undefined) return { kind: "absent" };
    const reading = await readActivity(file, this.#setup.uid, { limits: NO_LIMITS });
    if (reading.kind === "untrusted" && this.#wasTrusted) {
      this.#setup.log.write({ kind: "untrusted", because: reading.because });
      await this.#setup.say(
        `the activity file is not believed (${reading.because}); nothing is ended for idleness`,
      );
    }
    this.#wasTrusted = reading.kind !== "untrusted";
    return reading;
  }

  async #holdFacts(
    state: ActivityState | undefined,
    environment: Environment,
  ): Promise<HoldFacts & { readonly names: readonly string[] }> {
    const wants = this.#options.holds.includes("supervised");
    const facts: HoldFacts = {
      state,
      ages: this.#ages,
      holdsForPerson: this.#setup.holdsForPerson,
      supervised: wants && await isSupervised(environment, state?.cwd ?? null),
    };
    return { ...facts, names: judgeHolds(facts, this.#options.holds).map(({ name }) => name) };
  }

  #tell({ notes, holds }: LookResult, dt: number): void {
    const { log } = this.#setup;
    for (const note of notes) {
      if (note.kind === "gap") this.#gaps += 1;
      if (note.kind === "jump") this.#jumps += 1;
      log.write({ ...note });
      if (note.kind === "no-signal") {
        void this.#setup.say(
          "no sign of progress was ever seen; nothing is ended for idleness " +
            "(are the activity hooks registered, enabled, and of this user?)",
        );
      }
    }
    const now = new Set<string>(holds.map(({ name }) => name));
    for (const name of now) {
      this.#holdSeconds[name] = (this.#holdSeconds[name] ?? 0) + dt;
      if (!this.#held.has(name)) log.write({ kind: "hold", name });
    }
    for (const name of this.#held) if (!now.has(name)) log.write({ kind: "release", name });
    this.#held = now;
  }

  /** Ends the target, unless a second look says otherwise. */
  async #kill(
    verdict: { readonly reason: "idle" | "wall" | "signal"; readonly detail: string },
    looked: Looked,
  ): Promise<WatchEnd | undefined> {
    const { log, environment, uid } = this.#setup;
    if (verdict.reason === "idle") {
      const because = await this.#whyNotIdle(looked);
      if (because !== undefined) {
        this.#cancelled += 1;
        this.#clock.cancel();
        log.write({ kind: "cancelled", because });
        return undefined;
      }
    }
    log.write({ kind: "decide", reason: verdict.reason, dry: this.#options.dryRun });
    if (this.#options.dryRun && verdict.reason !== "signal") {
      await this.#setup.say(`would end it now: ${verdict.reason}, ${verdict.detail}`);
      return this.#finish(this.#endOf(verdict.reason, `dry run: ${verdict.detail}`, 0));
    }
    const decidedAt = wall();
    const detail = verdict.reason === "signal" ? this.#asked?.signal ?? "" : verdict.detail;
    const deciding: EndRecord = {
      reason: verdict.reason,
      detail,
      decidedAt,
      signals: [],
      killed: null,
      exitCode: null,
      leftRunning: 0,
    };
    const { target, runId } = this.#run;
    writeHeartbeat(this.#run, this.#look, "killing");
    const outcome = await endTarget({
      target,
      options: this.#options,
      mark: runId === null ? undefined : `TURNGUARD_RUN_ID=${runId}`,
      uid,
      spared: await supervisorPids(environment, this.#look.state?.cwd ?? null),
      decided: () => {
        if (!writeMarker(this.#run, markerOf(this.#run, this.#look, deciding, "decided"))) {
          log.write({ kind: "marker-failed", path: this.#run.marker });
        }
        if (verdict.reason !== "signal") this.#writeKillMarker(verdict.reason);
      },
      hurry: this.#hurried(),
      asked: verdict.reason === "signal",
    });
    log.write({ kind: "sent", signals: outcome.signals });
    return this.#finish({
      ...deciding,
      signals: outcome.signals,
      killed: outcome.killed,
      exitCode: await this.#killStatus(verdict.reason, outcome.killed),
      leftRunning: outcome.leftRunning,
    });
  }

  async #whyNotIdle(looked: Looked): Promise<string | undefined> {
    if (looked.reading.kind === "untrusted") return "the activity file is not believed";
    const reading = await this.#read();
    if (reading.kind === "untrusted") return "the activity file is not believed";
    if (this.#setup.progress.newest(reading, wall()) !== undefined) return "progress";
    const state = reading.kind === "state" ? reading.state : undefined;
    if (state !== undefined) this.#ages.look(state, { dt: 0, wall: wall(), transcriptAt });
    const { names } = await this.#holdFacts(state, this.#setup.environment);
    return names.find((name) => !looked.holdNames.includes(name));
  }

  async #killStatus(reason: EndReason, killed: boolean): Promise<number> {
    const { idleExitCode, wallExitCode, preserveStatus } = this.#options;
    if (!killed) return 125;
    if (reason === "signal" || preserveStatus) return await this.#setup.status();
    return reason === "idle" ? idleExitCode : wallExitCode;
  }

  /** A person who asks again while the target is being ended does not want to wait for it. */
  async #hurried(): Promise<void> {
    while (true) {
      await this.#setup.inbox.arrives();
      const signal = this.#setup.inbox.take();
      if (signal === "SIGTERM" || signal === "SIGINT") return;
    }
  }

  #writeKillMarker(reason: string): void {
    const path = this.#run.killMarker;
    if (path === undefined) return;
    try {
      Deno.writeTextFileSync(path, `${reason}\n`, { mode: 0o600 });
    } catch {
      this.#setup.log.write({ kind: "marker-failed", path });
    }
  }

  async #exited(): Promise<WatchEnd> {
    const { uid } = this.#setup;
    const { target, runId } = this.#run;
    const mark = runId === null ? undefined : `TURNGUARD_RUN_ID=${runId}`;
    const asked = this.#asked?.signal;
    return this.#finish({
      ...this.#endOf(
        asked === undefined ? "exited" : "signal",
        asked ?? "",
        await this.#setup.status(),
      ),
      signals: asked === undefined ? [] : [asked.slice(3)],
      leftRunning: await leftRunning({ target, mark, uid }),
    });
  }

  #endOf(reason: EndReason, detail: string, exitCode: number): EndRecord {
    return {
      reason,
      detail,
      decidedAt: wall(),
      signals: [],
      killed: false,
      exitCode,
      leftRunning: 0,
    };
  }

  #finish(end: EndRecord): WatchEnd {
    writeMarker(this.#run, markerOf(this.#run, this.#look, end, "done"));
    writeHeartbeat(this.#run, this.#look, "done", end);
    this.#setup.log.write({ kind: "done", reason: end.reason, exit: end.exitCode });
    return {
      end,
      look: this.#look,
      totals: {
        polls: this.#polls,
        gaps: this.#gaps,
        jumps: this.#jumps,
        cancelled: this.#cancelled,
        holdSeconds: this.#holdSeconds,
      },
    };
  }
}

interface Looked {
  readonly result: LookResult;
  readonly reading: ActivityReading;
  /** Holds that there are, whether or not they are within their bounds. */
  readonly holdNames: readonly string[];
}

function isDegraded(reading: ActivityReading): boolean {
  return reading.kind === "state" && reading.isDegraded;
}

function mono(): number {
  return performance.now() / 1000;
}

function wall(): number {
  return Date.now() / 1000;
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, Math.min(ms, 2 ** 31 - 1)));
}
