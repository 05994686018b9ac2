/** turnguard's own watcher in the process of the arm: one runtime, and no orphan when it is killed. */

import type { Home } from "../../observe/home.ts";
import type { Bell } from "../../platform/bell.ts";
import type { Environment } from "../../platform/environment.ts";
import { errorMessage } from "../../platform/file_text.ts";
import type { WriteOutcome } from "../../platform/output.ts";
import { printable } from "../../platform/printable.ts";
import { ownPid, type Processes } from "../../platform/processes.ts";
import { runWatcher } from "../watcher.ts";
import { endReport, startReport } from "../watcher_report.ts";
import type { RunExit, WatcherRun } from "./watcher_run.ts";

/** What it needs. */
export interface OwnRunSetup {
  readonly home: Home;
  readonly environment: Environment;
  readonly look: () => Processes;
  /** Rung when the watcher has begun to beat, and when it has ended. */
  readonly bell: Bell;
  /** Called before a wake is told; what has to stand in front of it is printed there. */
  readonly beforeTelling: () => Promise<unknown>;
  readonly print: (text: string) => Promise<WriteOutcome>;
  readonly complain: (text: string) => Promise<unknown>;
}

/** Exit status of a watcher that was asked to end, as if by TERM. */
const STOPPED_STATUS = 143;

/** Starts it. Its wake is printed at once, so that one which nobody heard is known not to be told. */
export function startOwnRun(setup: OwnRunSetup): WatcherRun {
  return new OwnRun(setup);
}

class OwnRun implements WatcherRun {
  readonly pid = ownPid();
  readonly #setup: OwnRunSetup;
  readonly #ended: Promise<RunExit>;
  #requestStop: () => void = () => {};
  #output = "";
  #untold = "";
  #exit: RunExit | undefined;

  constructor(setup: OwnRunSetup) {
    this.#setup = setup;
    const stop = new Promise<void>((resolve) => {
      this.#requestStop = resolve;
    });
    this.#ended = this.#run(stop);
  }

  readonly output = (): string => this.#output;
  readonly exit = (): RunExit | undefined => this.#exit;

  readonly stop = async (): Promise<RunExit> => {
    this.#requestStop();
    return await this.#ended;
  };

  async #run(stop: Promise<void>): Promise<RunExit> {
    const status = await this.#watch(stop);
    this.#exit = { status, output: this.#output, untold: this.#untold };
    this.#setup.bell.ring();
    return this.#exit;
  }

  async #watch(stop: Promise<void>): Promise<number> {
    const { home, environment, look, bell, complain } = this.#setup;
    try {
      const end = await runWatcher({
        home,
        environment,
        look,
        stop,
        started: (start) => {
          this.#add(startReport(start));
          bell.ring();
        },
        tell: (reason) => this.#tell(reason),
      });
      const report = endReport(end);
      this.#add(report.stdout);
      await complain(report.stderr);
      return end.kind === "stopped" ? STOPPED_STATUS : report.status;
    } catch (error) {
      await complain(`watcher: ${printable(errorMessage(error))}\n`);
      return 1;
    }
  }

  async #tell(reason: string): Promise<WriteOutcome> {
    await this.#setup.beforeTelling();
    const line = `${reason}\n`;
    const told = await this.#setup.print(this.#untold + line);
    if (told === "written") {
      this.#output += line;
      this.#untold = "";
    }
    return told;
  }

  #add(text: string): void {
    this.#output += text;
    this.#untold += text;
  }
}
