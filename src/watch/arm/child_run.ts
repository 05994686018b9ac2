/** A home's own watcher script as a child of the arm, in a process group of its own. */

import type { Bell } from "../../platform/bell.ts";
import { errorMessage, readText } from "../../platform/file_text.ts";
import { isPid, type Pid } from "../../platform/pid.ts";
import { endGroup } from "../../platform/process_group.ts";
import { armOutputPath, removeAbandonedFiles } from "../../state/abandoned_files.ts";
import { writeExclusively } from "../../state/create_file.ts";
import { removeQuietly } from "../../state/replace_file.ts";
import type { RunExit, WatcherRun } from "./watcher_run.ts";

/** What it needs. */
export interface ChildRunSetup {
  readonly script: string;
  readonly state: string;
  /** Variables on top of the inherited ones. */
  readonly added: Readonly<Record<string, string>>;
  /** Rung when the watcher has ended. */
  readonly bell: Bell;
}

/**
 * A watcher's way out waits for locks and for checks, some seconds at most; one that is killed leaves
 * its lock as the evidence from which the next one recovers.
 */
const END_LIMITS = { termMs: 10_000, killMs: 1_000 };

/**
 * Starts the script, its standard output in a private file of the state directory.
 *
 * Returns why it could not be started, with nothing left behind.
 */
export function startChildRun(setup: ChildRunSetup): WatcherRun | { readonly because: string } {
  // A watcher of the home's own does not do it.
  removeAbandonedFiles(setup.state);
  const path = armOutputPath(setup.state);
  try {
    writeExclusively(path, "", 0o600);
    const process = new Deno.Command("/bin/sh", {
      // The shell only opens the file and becomes the script, which is then a direct child.
      args: ["-c", 'exec "$0" >"$1"', setup.script, path],
      env: { ...setup.added },
      stdin: "null",
      stdout: "null",
      stderr: "inherit",
      detached: true,
    }).spawn();
    if (!isPid(process.pid)) throw new Error("it has no process id");
    return new ChildRun(process, process.pid, path, setup.bell);
  } catch (error) {
    removeQuietly(path);
    return { because: errorMessage(error) };
  }
}

class ChildRun implements WatcherRun {
  readonly pid: Pid;
  readonly #path: string;
  readonly #ended: Promise<RunExit>;
  #exit: RunExit | undefined;

  constructor(process: Deno.ChildProcess, pid: Pid, path: string, bell: Bell) {
    this.pid = pid;
    this.#path = path;
    this.#ended = this.#follow(process, bell);
  }

  readonly output = (): string => {
    if (this.#exit !== undefined) return this.#exit.output;
    const content = readText(this.#path);
    return content.kind === "text" ? content.text : "";
  };

  readonly exit = (): RunExit | undefined => this.#exit;

  readonly stop = async (): Promise<RunExit> => {
    if (this.#exit === undefined) await endGroup(this.pid, END_LIMITS);
    return await this.#ended;
  };

  async #follow(process: Deno.ChildProcess, bell: Bell): Promise<RunExit> {
    const { code } = await process.status;
    const output = this.output();
    removeQuietly(this.#path);
    this.#exit = { status: code, output, untold: output };
    bell.ring();
    return this.#exit;
  }
}
