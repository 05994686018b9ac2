/** The one-shot watcher of the away daemon: a child whose output is read when it has ended. */

import type { Bell } from "../../platform/bell.ts";
import { readText } from "../../platform/file_text.ts";
import { removeQuietly } from "../../state/replace_file.ts";

/** How a watcher's life ended. */
export interface WatcherExit {
  readonly status: number;
  readonly output: string;
}

/** What starting one needs. */
export interface WatcherChildSetup {
  /** The watcher's command. */
  readonly command: readonly string[];
  /** The path that it has to record: an override of the root must not give it another one. */
  readonly watcherPath: string;
  /** File that standard error is appended to. */
  readonly errors: string;
  /** Rung at its end. */
  readonly bell: Bell;
}

/** Milliseconds that a watcher has to end; a home's own script may ignore that it was asked. */
const STOP_LIMIT_MS = 5_000;

/** A watcher that runs as a child. */
export class WatcherChild {
  readonly #process: Deno.ChildProcess;
  readonly #path: string;
  #exit: WatcherExit | undefined;
  readonly #ended: Promise<void>;

  /** Starts it. Throws when its output file or the process cannot be made. */
  constructor({ command, watcherPath, errors, bell }: WatcherChildSetup) {
    this.#path = Deno.makeTempFileSync({ prefix: "fm-watch." });
    try {
      this.#process = new Deno.Command("/bin/sh", {
        // The shell only opens the files and becomes the watcher.
        args: ["-c", 'out=$1 err=$2; shift 2; exec "$@" >"$out" 2>>"$err"', "-", this.#path, errors]
          .concat(command),
        // A watcher of the daemon's never continues somebody's cycle; empty counts as unset.
        env: {
          FM_WATCH_HANDLING_SUCCESSOR: "",
          FM_WATCH_PREDECESSOR_ARM_PID: "",
          TURNGUARD_WATCH_PATH: watcherPath,
        },
        stdin: "null",
        stdout: "null",
        stderr: "null",
        detached: true,
      }).spawn();
    } catch (error) {
      removeQuietly(this.#path);
      throw error;
    }
    this.#ended = this.#process.status.then(({ code }) => {
      const content = readText(this.#path);
      this.#exit = { status: code, output: content.kind === "text" ? content.text : "" };
      removeQuietly(this.#path);
      bell.ring();
    });
  }

  /** How it ended, once it has. */
  get exit(): WatcherExit | undefined {
    return this.#exit;
  }

  /** Asks it to end, insists after a while, and waits until it has. */
  async stop(): Promise<void> {
    this.#signal("SIGTERM");
    const timer = setTimeout(() => this.#signal("SIGKILL"), STOP_LIMIT_MS);
    await this.#ended;
    clearTimeout(timer);
  }

  #signal(name: "SIGTERM" | "SIGKILL"): void {
    try {
      this.#process.kill(name);
    } catch {
      // Ended in this very moment.
    }
  }
}
