/**
 * Watchdogs over real processes, with short limits.
 *
 * @module
 */

import { assert } from "@std/assert";
import { join } from "@std/path";
import { ActivityHome } from "./activity_home.ts";
import { isRunning } from "./claude_session.ts";
import { exists, textOf } from "./files.ts";
import { until } from "./processes.ts";
import { environmentOf, type RunResult, TURNGUARD } from "./turnguard.ts";

/** The words of a summary line. */
export type Summary = Readonly<Record<string, string>>;

/** A watchdog that was started. */
export interface Started {
  readonly pid: number;
  signal(name: Deno.Signal): void;
  /** How it ended. */
  ended(): Promise<RunResult>;
}

/** A home folder for watchdogs. Bind it with `await using`: what they started ends. */
export class WatchdogHome implements AsyncDisposable {
  readonly activity = ActivityHome.make();
  readonly #started = new Set<Deno.ChildProcess>();
  #scripts = 0;

  get folder(): string {
    return this.activity.folder;
  }

  get env(): Readonly<Record<string, string>> {
    return { HOME: this.activity.home, TURNGUARD, F: this.folder };
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** A shell script; `event` in it sends a payload to the activity hook. */
  script(...lines: readonly string[]): readonly string[] {
    const path = this.path(`script-${++this.#scripts}`);
    const event = 'event() { printf \'{"session_id":"S1",%s}\' "$1" | ' +
      '"$TURNGUARD" activity --host claude; }';
    Deno.writeTextFileSync(path, [event, ...lines, ""].join("\n"));
    return ["/bin/bash", path];
  }

  /** Starts the executable. */
  start(
    args: readonly string[],
    env: Readonly<Record<string, string | undefined>> = {},
  ): Started {
    const child = new Deno.Command(TURNGUARD, {
      args: [...args],
      clearEnv: true,
      env: environmentOf({ ...this.env, ...env }),
      cwd: "/",
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#started.add(child);
    const output = child.output();
    return {
      pid: child.pid,
      signal: (name) => child.kill(name),
      ended: async () => {
        const { code, stdout, stderr } = await output;
        this.#started.delete(child);
        const decoder = new TextDecoder();
        return { status: code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
      },
    };
  }

  /** Starts a runner with limits of a second or two. */
  runner(
    flags: readonly string[],
    command: readonly string[],
    env: Readonly<Record<string, string | undefined>> = {},
  ): Started {
    return this.start(["watchdog", ...SHORT, ...flags, "--", ...command], env);
  }

  /** Waits until a file of this folder is there, and returns its text. */
  async text(name: string): Promise<string> {
    await until(() => exists(this.path(name)) && textOf(this.path(name)) !== "", 30_000);
    return textOf(this.path(name)).trim();
  }

  /** Waits until a file holds a pid. */
  async pid(name: string): Promise<number> {
    const pid = Number(await this.text(name));
    assert(pid > 1, `${name} holds ${pid}`);
    return pid;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#started) {
      try {
        child.kill("SIGKILL");
      } catch {
        // It has ended.
      }
      await child.status;
    }
    // Whatever was started names this folder.
    for (const pid of processesIn(this.folder)) {
      try {
        Deno.kill(pid, "SIGKILL");
      } catch {
        // It has ended.
      }
    }
    await until(() => processesIn(this.folder).length === 0);
    await this.activity[Symbol.asyncDispose]();
  }
}

/** Limits for real time; the poll follows them. */
const SHORT = [
  "--idle-timeout",
  "1.5",
  "--startup-grace",
  "0",
  "--grace",
  "2",
  "--no-signal",
  "kill",
];

/** What the last line of a watchdog says. */
export function summaryOf({ stderr }: RunResult): Summary {
  const line = stderr.trimEnd().split("\n").findLast((text) => text.includes(" reason=")) ?? "";
  return Object.fromEntries(
    line.split(" ").filter((word) => word.includes("=")).map((word) => {
      const [name = "", ...value] = word.split("=");
      return [name, value.join("=")];
    }),
  );
}

/** Reason and exit status, as one word each. */
export function endOf(result: RunResult): string {
  return `${summaryOf(result)["reason"]} ${result.status}`;
}

/** Running processes that name `folder` on their command line or in their environment. */
export function processesIn(folder: string): readonly number[] {
  return [...Deno.readDirSync("/proc")].map(({ name }) => Number(name))
    .filter((pid) => Number.isInteger(pid) && pid !== Deno.pid && isRunning(pid))
    .filter((pid) => {
      return ["cmdline", "environ"].some((name) => {
        try {
          return Deno.readTextFileSync(`/proc/${pid}/${name}`).includes(folder);
        } catch {
          return false;
        }
      });
    });
}
