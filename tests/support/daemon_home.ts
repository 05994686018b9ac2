/** The away daemon over a test's home, with a program that takes its digests. */

import { exists, textOf } from "./files.ts";
import { makeHome, type TestHome } from "./home.ts";
import { until } from "./processes.ts";
import { environmentOf, type RunResult, runTurnguard, TURNGUARD } from "./turnguard.ts";

export const BUFFER = "state/.subsuper-escalations";
export const SINCE = "state/.subsuper-escalations.since";
export const WEDGED = "state/.subsuper-inject-wedged";
export const DAEMON_LOCK = "state/.supervise-daemon.lock";
export const PID_FILE = "state/.supervise-daemon.pid";
export const GATE = "state/.afk-return-catchup";

/** Variables on top of those that keep a test short. */
export type Variables = Readonly<Record<string, string | undefined>>;

const QUICK: Variables = {
  FM_SIGNAL_GRACE: "0",
  FM_POLL: "1",
  FM_CHECK_INTERVAL: "9999",
  FM_HEARTBEAT: "9999",
  FM_HOUSEKEEPING_TICK: "1",
  FM_ESCALATE_BATCH_SECS: "0",
  FM_HEARTBEAT_SCAN_SECS: "9999",
  FM_WEDGE_ALARM_EXEC: "discard",
};

/** A test over a home of its own. */
export type Scenario = (
  name: string,
  work: (home: DaemonHome) => Promise<void>,
  where?: { readonly ignore?: boolean },
) => void;

/** Tests of the daemon itself, and of what the mode's words do. */
export const daemonScenario: Scenario = scenariosOf("daemon");
export const afkScenario: Scenario = scenariosOf("afk");

function scenariosOf(subject: string): Scenario {
  return (name, work, where = {}) =>
    Deno.test(`${subject}: ${name}`, where, async () => {
      await using home = new DaemonHome(makeHome().task("t"));
      await work(home);
    });
}

/** A home and the daemons that were started over it. */
export class DaemonHome implements AsyncDisposable {
  readonly home: TestHome;
  readonly #daemons: Daemon[] = [];

  constructor(home: TestHome) {
    this.home = home;
    // What was delivered, and with which status the program answers.
    home.write("delivered").write("answer", "0");
    this.script(
      "deliver",
      `[ "$1" = probe ] && exit 0; cat >>'${home.path("delivered")}'; ` +
        `echo >>'${home.path("delivered")}'; exit "$(cat '${home.path("answer")}')"`,
    );
  }

  path(name: string): string {
    return this.home.path(name);
  }

  text(name: string): string {
    return textOf(this.path(name));
  }

  /** An executable script inside the home. */
  script(name: string, body: string): string {
    this.home.write(name, `#!/bin/sh\n${body}\n`);
    Deno.chmodSync(this.path(name), 0o755);
    return this.path(name);
  }

  /** What was delivered, one message an entry. */
  get delivered(): readonly string[] {
    return this.text("delivered").split("\n").filter((line) => line !== "");
  }

  get log(): string {
    return this.text("state/.supervise-daemon.log");
  }

  get items(): readonly string[] {
    return this.text(BUFFER).split("\n").filter((line) => line !== "");
  }

  /** The queue, row by row, without times and numbers. */
  get queue(): readonly string[] {
    return this.text("state/.wake-queue").split("\n").slice(0, -1)
      .map((row) => row.split("\t").slice(2).join("\t"));
  }

  /** A program that proves every task's crew to be at work. */
  get workingCrew(): Variables {
    const program = this.script("crew", "echo 'state: working · source: pane · x'");
    return { FM_CREW_STATE_BIN: program };
  }

  report(line: string, task = "t"): this {
    const name = `state/${task}.status`;
    if (!exists(this.path(name))) this.home.write(name, `${line}\n`);
    else Deno.writeTextFileSync(this.path(name), `${line}\n`, { append: true });
    return this;
  }

  row(kind: string, key: string, payload: string): this {
    const row = `1700000000\t1\t${kind}\t${key}\t${payload}\n`;
    Deno.writeTextFileSync(this.path("state/.wake-queue"), row, { append: true });
    this.home.write("state/.wake-queue.seq", "1\n");
    return this;
  }

  /** Runs `afk` with words to its end. */
  afk(words: readonly string[], stdin = "", env: Variables = {}): Promise<RunResult> {
    return runTurnguard(["afk", ...words, ...this.home.args], {
      env: { ...QUICK, ...env },
      stdin,
    });
  }

  /** Starts a daemon, by the mode's words, and waits until it has recorded itself or has ended. */
  async start(env: Variables = {}, words: readonly string[] = ["afk", "on"]): Promise<Daemon> {
    const daemon = new Daemon(this, words, { TURNGUARD_DELIVER: this.path("deliver"), ...env });
    this.#daemons.push(daemon);
    await until(() =>
      daemon.over ||
      (this.text(`${DAEMON_LOCK}/pid`) === `${daemon.pid}\n` && this.log.includes("daemon started"))
    );
    return daemon;
  }

  /** Waits until a watcher holds the watch lock. */
  async untilWatched(): Promise<number> {
    await until(() => this.text("state/.watch.lock/pid-identity") !== "", 20_000);
    return Number(this.text("state/.watch.lock/pid"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const daemon of this.#daemons) await daemon.end();
    await killNaming(this.home.root);
    await this.home[Symbol.asyncDispose]();
  }
}

/** Milliseconds after which a daemon counts as one that does not end; generous. */
const ENDED_LIMIT_MS = 40_000;

/** One daemon. */
export class Daemon {
  readonly pid: number;
  over = false;
  readonly #child: Deno.ChildProcess;
  readonly #ended: Promise<RunResult>;

  constructor(home: DaemonHome, words: readonly string[], env: Variables) {
    this.#child = new Deno.Command(TURNGUARD, {
      args: [...words, ...home.home.args],
      clearEnv: true,
      env: environmentOf({ ...QUICK, TMPDIR: home.home.folder, ...env }),
      cwd: "/",
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.pid = this.#child.pid;
    this.#ended = this.#child.output().then(({ code, stdout, stderr }) => {
      this.over = true;
      const decoder = new TextDecoder();
      return { status: code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
    });
  }

  signal(name: Deno.Signal): void {
    this.#child.kill(name);
  }

  /** Waits for its end. Fails the test when it does not come, so that what stays on is ended too. */
  async ended(): Promise<RunResult> {
    await until(() => this.over, ENDED_LIMIT_MS);
    return await this.#ended;
  }

  /** Ends it by force. */
  async end(): Promise<void> {
    if (!this.over) this.signal("SIGKILL");
    await this.#ended;
  }
}

/** Ends the watchers that a killed daemon left over a home. */
async function killNaming(root: string): Promise<void> {
  const left = (): readonly number[] =>
    [...Deno.readDirSync("/proc")].map(({ name }) => name)
      .filter((name) => /^[0-9]+$/.test(name))
      .filter((name) => textOf(`/proc/${name}/cmdline`).includes(`${root}\0`))
      .map(Number);
  for (const pid of left()) {
    try {
      Deno.kill(pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
  await until(() => left().length === 0);
}

/** Whether something is at a path of the home. */
export function isThere(home: DaemonHome, name: string): boolean {
  return exists(home.path(name));
}
