/** One arm: it attaches to a healthy watcher or starts one, and stays until there is something to tell. */

import { type ExitMeaning, judgeExit, saysReplaced } from "../../decide/arm_cycle.ts";
import type { HealthyWatcher } from "../../decide/attached_watcher.ts";
import type { Home } from "../../observe/home.ts";
import { Bell } from "../../platform/bell.ts";
import { type Environment, environmentWith } from "../../platform/environment.ts";
import type { WriteOutcome } from "../../platform/output.ts";
import type { Pid } from "../../platform/pid.ts";
import type { Processes } from "../../platform/processes.ts";
import type { StopSignal } from "../../platform/stop_signal.ts";
import {
  attachedLine,
  exitedLine,
  NO_HANDLING,
  NO_REASON,
  NO_WATCHER,
  stalledLine,
  startedLine,
} from "../arm_lines.ts";
import { lastDelivery } from "../deliveries.ts";
import {
  awaitWatcher,
  CONFIRM_STEP_MS,
  confirmLimitMs,
  type FollowSetup,
  followWatcher,
  lookForWatcher,
  observeWatch,
} from "../follow.ts";
import { homeScript } from "../home_script.ts";
import { startChildRun } from "./child_run.ts";
import { Confirmation, type Confirmed } from "./confirmation.ts";
import { Cycles } from "./cycle.ts";
import { handlingState } from "./handling.ts";
import { CycleLedger } from "./ledger.ts";
import { startOwnRun } from "./own_run.ts";
import type { RunExit, WatcherRun } from "./watcher_run.ts";

/** What an arm needs. */
export interface ArmSetup {
  readonly home: Home;
  readonly environment: Environment;
  /** Looks at processes afresh. */
  readonly look: () => Processes;
  readonly signal: Promise<StopSignal>;
  /** Writes to standard output. */
  readonly print: (text: string) => Promise<WriteOutcome>;
  /** Writes to standard error. */
  readonly complain: (text: string) => Promise<unknown>;
}

/** Whether a healthy watcher is attached to before one is started. */
export type ArmStart = "attach-first" | "start";

const OK = 0;
const FAILURE = 1;

/** Runs an arm to its exit status. 0 means that a wake was told. */
export async function runArm(setup: ArmSetup, start: ArmStart): Promise<number> {
  return await new Arm(setup).run(start);
}

/** Milliseconds of a wait that only a bell ends: the longest that a timer can take. */
const UNTIL_RUNG_MS = 2_147_483_647;

class Arm {
  readonly #setup: ArmSetup;
  readonly #following: FollowSetup;
  readonly #bell = new Bell();
  readonly #ledger: CycleLedger;
  readonly #cycles: Cycles;
  readonly #confirmation: Confirmation;
  #run: WatcherRun | undefined;
  #signal: StopSignal | undefined;

  constructor(setup: ArmSetup) {
    const { home, environment, look, complain } = setup;
    this.#setup = setup;
    this.#ledger = new CycleLedger({ state: home.state, environment, look, complain });
    this.#cycles = new Cycles(home.state, this.#ledger);
    this.#following = {
      home,
      environment,
      look,
      bell: this.#bell,
      stopping: () => this.#signal !== undefined,
      moved: (to, because) => this.#moved(to, because),
    };
    this.#confirmation = new Confirmation({
      observe: () => observeWatch(this.#following),
      own: (pid) => this.#confirmed(pid),
      other: (pid) => this.#ledger.link(`attached:${pid}`),
    });
    void setup.signal.then((signal) => {
      this.#signal = signal;
      this.#bell.ring();
    });
  }

  async run(start: ArmStart): Promise<number> {
    const watcher = start === "attach-first" ? await lookForWatcher(this.#following) : undefined;
    if (this.#signal !== undefined) return this.#signal.status;
    if (watcher === undefined) return await this.#start();
    await this.#ledger.link(`attached:${watcher.pid}`);
    return await this.#attach(watcher);
  }

  async #start(): Promise<number> {
    const lockBefore = this.#cycles.lockText();
    const run = this.#startRun();
    if ("because" in run) {
      await this.#setup.complain(`watcher: could not be started: ${run.because}\n`);
      return await this.#fail(NO_WATCHER);
    }
    this.#run = run;
    this.#cycles.begin("started", run.pid, lockBefore);
    const confirmed = await this.#confirm(run);
    if (confirmed === "late") {
      return await this.#giveUp(run, "confirmation-timeout", NO_WATCHER);
    }
    if (confirmed === "handoff-failed") {
      return await this.#giveUp(run, "handling-handoff-failed", NO_HANDLING);
    }
    while (run.exit() === undefined && this.#signal === undefined) {
      await this.#bell.within(UNTIL_RUNG_MS);
    }
    const exit = run.exit();
    return exit === undefined ? await this.#interrupt(run) : await this.#ended(run.pid, exit);
  }

  /** The home's own watcher where it brings one, else turnguard's in this very process. */
  #startRun(): WatcherRun | { readonly because: string } {
    const { home, environment, look, print, complain } = this.#setup;
    const successor = environment.get("FM_WATCH_PREDECESSOR_ARM_PID") !== undefined;
    const graft = environmentWith(
      environment,
      successor ? { FM_WATCH_HANDLING_SUCCESSOR: "1" } : {},
    );
    const script = homeScript(home.root, "fm-watch.sh");
    const bell = this.#bell;
    if (script !== undefined) {
      return startChildRun({ script, state: home.state, added: graft.added, bell });
    }
    return startOwnRun({
      home,
      environment: graft.environment,
      look,
      bell,
      beforeTelling: async () => {
        if (this.#run !== undefined) await this.#confirmation.look(this.#run.pid);
      },
      print,
      complain,
    });
  }

  /** Waits until the watcher is healthy, stands down, or has ended; `late` when none of it comes. */
  async #confirm(run: WatcherRun): Promise<Confirmed | "ended" | "interrupted" | "late"> {
    const end = performance.now() + confirmLimitMs(this.#setup.environment);
    while (true) {
      if (run.exit() !== undefined) return "ended";
      if (this.#signal !== undefined) return "interrupted";
      const confirmed = await this.#confirmation.look(run.pid);
      if (confirmed !== undefined) return confirmed;
      if (performance.now() >= end) return "late";
      await this.#bell.within(CONFIRM_STEP_MS);
    }
  }

  /** The own watcher is healthy: says so, and what it continues. */
  async #confirmed(pid: Pid): Promise<"own" | "handoff-failed"> {
    const { home, environment, print } = this.#setup;
    if (saysReplaced(this.#run?.output() ?? "")) {
      const reason = "stalled-holder-replaced";
      await this.#cycles.end({ reason, exitCode: 0, signal: "none", successor: `started:${pid}` });
      this.#cycles.begin("started", pid);
    }
    const continues = environment.get("FM_WATCH_PREDECESSOR_ARM_PID") !== undefined;
    const handling = continues ? handlingState(home.state) : { kind: "none" } as const;
    if (handling.kind === "unreadable") return "handoff-failed";
    await this.#ledger.link(`started:${pid}`);
    const generation = handling.kind === "open" ? handling.generation : undefined;
    await print(`${startedLine(pid, generation)}\n`);
    return "own";
  }

  /** Ends a watcher that could not be confirmed; a wake that it told in that moment counts. */
  async #giveUp(run: WatcherRun, reason: string, line: string): Promise<number> {
    const exit = await run.stop();
    const meaning = judgeExit(exit);
    if (meaning.kind === "wake") return await this.#told(exit, meaning.about);
    await this.#cycles.end({ reason, exitCode: exit.status, signal: signalOf(meaning) });
    await this.#setup.print(exit.untold);
    return await this.#fail(line);
  }

  /** A signal came: the own watcher goes with its arm. A wake that it told in that moment counts. */
  async #interrupt(run: WatcherRun): Promise<number> {
    const exit = await run.stop();
    const meaning = judgeExit(exit);
    if (meaning.kind === "wake") return await this.#told(exit, meaning.about);
    return await this.#interrupted();
  }

  async #interrupted(): Promise<number> {
    const { name = "SIGTERM", status = 143 } = this.#signal ?? {};
    const signal = name.replace(/^SIG/, "");
    await this.#cycles.end({ reason: "arm-interrupted", exitCode: status, signal });
    return status;
  }

  async #ended(pid: Pid, exit: RunExit): Promise<number> {
    const meaning = judgeExit(exit);
    switch (meaning.kind) {
      case "wake":
        return await this.#told(exit, meaning.about);
      case "clean":
        return await this.#endedClean(pid, exit);
      case "failed": {
        const { how, signal, told } = meaning;
        await this.#cycles.end({ reason: how, exitCode: exit.status, signal });
        await this.#setup.print(exit.untold + (told ? "" : `${exitedLine(exit.status)}\n`));
        return exit.status;
      }
    }
  }

  async #told(exit: RunExit, about: string): Promise<number> {
    await this.#cycles.end({ reason: `actionable-${about}`, exitCode: 0, signal: "none" });
    return await this.#tell(exit.untold);
  }

  /** Status 0 is for a wake that somebody heard. */
  async #tell(text: string): Promise<number> {
    return await this.#setup.print(text) === "written" ? OK : FAILURE;
  }

  /** Its place was taken, or it stood down: whoever watches now is followed. */
  async #endedClean(pid: Pid, exit: RunExit): Promise<number> {
    const ending = { exitCode: exit.status, signal: "none" };
    const successor = await awaitWatcher(this.#following);
    if (successor !== undefined) {
      await this.#cycles.end({
        ...ending,
        reason: "unexpected-clean-exit",
        successor: `attached:${successor.pid}`,
      });
      await this.#setup.print(exit.untold);
      return await this.#attach(successor);
    }
    if (this.#signal !== undefined) return await this.#interrupted();
    await this.#setup.print(exit.untold);
    const identity = this.#confirmation.identity;
    const delivered = identity === undefined
      ? undefined
      : await lastDelivery(this.#setup.home.state, { pid, identity });
    if (delivered === undefined) {
      await this.#cycles.end({ ...ending, reason: "unexpected-clean-exit" });
      return await this.#fail(NO_REASON);
    }
    await this.#cycles.end({ ...ending, reason: "clean-exit-delivered-wake" });
    return await this.#tell(`${delivered}\n`);
  }

  async #attach(watcher: HealthyWatcher): Promise<number> {
    this.#cycles.begin("attached", watcher.pid);
    await this.#setup.print(`${attachedLine(watcher)}\n`);
    const end = await followWatcher(this.#following, watcher);
    switch (end.kind) {
      case "stopped":
        return await this.#interrupted();
      case "stalled":
        await this.#cycles.end({ reason: "attached-holder-stalled" });
        return await this.#fail(stalledLine(end.watcher.pid, end.ageSeconds, end.boundSeconds));
      case "delivered":
        await this.#cycles.end({ reason: "attached-delivered-wake" });
        return await this.#tell(`${end.reason}\n`);
      case "nothing-delivered":
        await this.#cycles.end({ reason: "attached-cycle-ended" });
        return await this.#fail(NO_REASON);
    }
  }

  async #moved(to: HealthyWatcher, because: "replaced" | "ended"): Promise<void> {
    const reason = because === "replaced" ? "lock-replaced" : "attached-cycle-ended";
    await this.#cycles.end({ reason, successor: `attached:${to.pid}` });
    this.#cycles.begin("attached", to.pid);
    await this.#setup.print(`${attachedLine(to)}\n`);
  }

  async #fail(line: string): Promise<number> {
    await this.#setup.print(`${line}\n`);
    return FAILURE;
  }
}

function signalOf(meaning: ExitMeaning): string {
  return meaning.kind === "failed" ? meaning.signal : "none";
}
