/**
 * Arms over a home: processes that are started, read line by line, signalled, and never left behind.
 *
 * @module
 */

import { assert, assertEquals, fail } from "@std/assert";
import { appendWake } from "../../src/act/wake_append.ts";
import { queuePaths } from "../../src/state/wake_queue.ts";
import { isRunning } from "./claude_session.ts";
import { exists, textOf } from "./files.ts";
import { makeHome, type TestHome } from "./home.ts";
import { identityOf, until } from "./processes.ts";
import { environmentOf, type RunResult, runTurnguard, tabulate, TURNGUARD } from "./turnguard.ts";

/** Milliseconds after which an arm counts as hung; generous, since machines differ. */
const HUNG_MS = 60_000;

/** Settings under which an arm and its watcher answer soon. */
const SETTINGS: Readonly<Record<string, string>> = {
  FM_ARM_CONFIRM_TIMEOUT: "1",
  FM_ARM_ATTACH_POLL: "0.05",
  FM_POLL: "0.2",
  FM_SIGNAL_GRACE: "0",
  FM_TEST_WATCHER: TURNGUARD,
};

/** The last line of a watch that told nothing. */
export const NO_REASON = "watcher: FAILED - cycle ended without an actionable reason";

/** Variables on top of {@link SETTINGS}. */
export type Variables = Readonly<Record<string, string>>;

/** One home, and the arms that a test starts over it. */
export class ArmHome implements AsyncDisposable {
  readonly home: TestHome;
  readonly #started: Running[] = [];

  constructor(home: TestHome = makeHome()) {
    this.home = home;
    home.task();
  }

  /** A path inside the home. */
  path(name: string): string {
    return this.home.path(name);
  }

  /** Starts an arm. */
  arm(env: Variables = {}, ...words: readonly string[]): Running {
    return this.start(["arm", ...words], env);
  }

  /** Starts a watcher of its own. */
  watch(env: Variables = {}): Running {
    return this.start(["watch"], env);
  }

  /** Starts any mode over this home. */
  start([mode = "", ...words]: readonly string[], env: Variables = {}): Running {
    const variables = { ...SETTINGS, FM_TEST_ROOT: this.home.root, ...env };
    const running = new Running([mode, ...this.home.args, ...words], variables);
    this.#started.push(running);
    return running;
  }

  /** Runs any mode over this home to its end. */
  async run(words: readonly string[], env: Variables = {}): Promise<RunResult> {
    return await this.start(words, env).ended();
  }

  /** An arm whose own watcher has been confirmed. */
  async startedArm(env: Variables = {}): Promise<Running> {
    const arm = this.arm({ FM_ARM_CONFIRM_TIMEOUT: "30", ...env });
    await arm.line(/^watcher: started pid=[0-9]+ \(beacon fresh\)$/);
    return arm;
  }

  /** An arm that follows the watcher `pid`. */
  async attachedArm(pid: number, env: Variables = {}): Promise<Running> {
    const arm = this.arm(env);
    await arm.line(new RegExp(`^watcher: attached pid=${pid} \\(beacon [0-9]+s\\)$`));
    return arm;
  }

  /** A watcher of its own that holds the lock and beats. */
  async beatingWatch(env: Variables = {}): Promise<Running> {
    const watch = this.watch(env);
    await until(() => this.watcherPid() === watch.pid && this.isBeating(), HUNG_MS);
    return watch;
  }

  /** Whether the watcher has recorded itself and has given a beat. */
  isBeating(): boolean {
    return textOf(this.path("state/.watch.lock/pid-identity")) !== "" &&
      exists(this.path("state/.last-watcher-beat"));
  }

  /** The pid that the watch lock records; 0 without one. */
  watcherPid(): number {
    return Number(textOf(this.path("state/.watch.lock/pid")).trim());
  }

  /** A watcher script of the home's own, which runs `body`; by default it is turnguard's watcher. */
  watcherScript(body = 'exec "$FM_TEST_WATCHER" watch --root "$FM_TEST_ROOT"'): this {
    this.home.write("bin/fm-watch.sh", `#!/bin/sh\n${body}\n`);
    Deno.chmodSync(this.path("bin/fm-watch.sh"), 0o755);
    return this;
  }

  /** A registered check that runs `body`. */
  async check(id: string, body: string): Promise<string> {
    const path = this.path(`state/${id}.check.sh`);
    this.home.write(`state/${id}.check.sh`, `${body}\n`);
    Deno.chmodSync(path, 0o700);
    const run = await runTurnguard(["check-register", id, ...this.home.args]);
    assertEquals(run.status, 0, run.stderr);
    return path;
  }

  /** A report that is worth a wake, and one alone: it appears whole. The reason of that wake. */
  report(id = "t"): string {
    this.home.write("state/.report", "done: all of it\n");
    Deno.renameSync(this.path("state/.report"), this.path(`state/${id}.status`));
    return `signal: ${this.path(`state/${id}.status`)}`;
  }

  /** A row that another program queues. */
  async foreignRow(): Promise<void> {
    const wake = { kind: "signal", key: "foreign", payload: "signal: foreign" } as const;
    assert(await appendWake(queuePaths(this.home.state, { get: () => undefined }), wake));
  }

  /** The rows of the ledger, each by its fields. */
  rows(): readonly Readonly<Record<string, string>>[] {
    return textOf(this.path("state/.watch-cycle-exits.log")).split("\n").slice(0, -1).map((line) =>
      Object.fromEntries(
        line.split("\t").map((field) => {
          const [name = "", ...value] = field.split("=");
          return [name, value.join("=")];
        }),
      )
    );
  }

  /** One field of every row. */
  column(name: string): readonly (string | undefined)[] {
    return this.rows().map((row) => row[name]);
  }

  /** Names in the state folder that begin with `prefix`. */
  named(prefix: string): readonly string[] {
    return [...Deno.readDirSync(this.home.state)].map(({ name }) => name)
      .filter((name) => name.startsWith(prefix)).sort();
  }

  /** Payload columns of the queue: kind, key and text. */
  queue(): readonly (readonly string[])[] {
    return textOf(this.path("state/.wake-queue")).split("\n").slice(0, -1)
      .map((row) => row.split("\t").slice(2));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#started.map((running) => running.end()));
    await this.home[Symbol.asyncDispose]();
  }
}

/** A run of the executable that is read while it goes on. */
export class Running {
  readonly pid: number;
  readonly #child: Deno.ChildProcess;
  readonly #ended: Promise<RunResult>;
  #stdout = "";
  #stderr = "";
  readonly #closing = new AbortController();
  #outputClosed: Promise<void> = Promise.resolve();
  #over = false;
  #wake: () => void = () => {};

  constructor(words: readonly string[], env: Variables) {
    this.#child = new Deno.Command(TURNGUARD, {
      args: [...words],
      clearEnv: true,
      env: environmentOf(env),
      cwd: "/",
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.pid = this.#child.pid;
    this.#ended = this.#follow();
  }

  /** What it has printed so far. */
  get stdout(): string {
    return this.#stdout;
  }

  /** Whether it has not ended yet. */
  get isRunning(): boolean {
    return isRunning(this.pid);
  }

  /** Waits for a line on standard output. */
  async line(form: RegExp): Promise<string> {
    while (true) {
      const found = this.#stdout.split("\n").find((line) => form.test(line));
      if (found !== undefined) return found;
      if (this.#over) fail(`ended without ${form}: ${this.#stdout}${this.#stderr}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Waits for its end. */
  ended(): Promise<RunResult> {
    return this.#ended;
  }

  /** Stops reading its standard output: what it writes there from now on fails. */
  async closeOutput(): Promise<void> {
    this.#closing.abort();
    await this.#outputClosed;
  }

  /** Sends it a signal. */
  signal(name: Deno.Signal): this {
    this.#child.kill(name);
    return this;
  }

  /** Ends it, whatever it does, and waits. */
  async end(): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended by itself.
    }
    await this.#ended.catch(() => {});
  }

  async #follow(): Promise<RunResult> {
    let hung = false;
    const timer = setTimeout(() => {
      hung = true;
      this.#child.kill("SIGKILL");
    }, HUNG_MS);
    const { signal } = this.#closing;
    this.#outputClosed = this.#read(this.#child.stdout, (text) => this.#stdout += text, signal);
    const [{ code }] = await Promise.all([
      this.#child.status,
      this.#outputClosed,
      this.#read(this.#child.stderr, (text) => this.#stderr += text),
    ]);
    clearTimeout(timer);
    this.#over = true;
    this.#wake();
    if (hung) fail(`hung for ${HUNG_MS} ms: ${this.#stdout}${this.#stderr}`);
    return { status: code, stdout: this.#stdout, stderr: this.#stderr };
  }

  async #read(
    stream: ReadableStream<Uint8Array>,
    add: (text: string) => void,
    closing?: AbortSignal,
  ): Promise<void> {
    const reader = stream.getReader();
    closing?.addEventListener("abort", () => void reader.cancel());
    const decoder = new TextDecoder();
    while (true) {
      const { done, value } = await reader.read();
      add(decoder.decode(value, { stream: !done }));
      this.#wake();
      if (done) return;
    }
  }
}

/** Waits until a process has read files `count` times more than it has by now. */
export async function untilItLooked(pid: number, count: number): Promise<void> {
  const reads = (): number =>
    Number(/^syscr: ([0-9]+)$/m.exec(Deno.readTextFileSync(`/proc/${pid}/io`))?.[1]);
  const before = reads();
  await until(() => reads() >= before + count, HUNG_MS);
}

/** Waits until a process ignores a signal. */
export async function untilItIgnores(pid: number, signal: number): Promise<void> {
  await until(() => {
    const status = Deno.readTextFileSync(`/proc/${pid}/status`);
    const mask = BigInt(`0x${/^SigIgn:\s+([0-9a-f]+)$/m.exec(status)?.[1]}`);
    return (mask >> BigInt(signal - 1) & 1n) === 1n;
  });
}

/** Records what the watcher `pid` told somebody. */
export async function recordDelivery(home: ArmHome, pid: number, reason: string): Promise<void> {
  home.home.write(
    "state/.watch-deliveries.log",
    `${pid}\t${await identityOf(pid)}\t${reason}\n`,
  );
}

/** A scenario by its name, played in a home of its own. */
export type Scenario = readonly [name: string, play: (home: ArmHome) => Promise<void>];

/** Plays scenarios, some at a time; all of them have to hold. */
export function scenarios(name: string, rows: readonly Scenario[]): void {
  Deno.test(name, async () => {
    const outcomes = await tabulate(rows, ([row]) => row, async ([, play]) => {
      await using home = new ArmHome();
      try {
        await play(home);
        return "holds";
      } catch (error) {
        return error instanceof Error ? `${error.message}\n${error.stack}` : String(error);
      }
    });
    assertEquals(outcomes, Object.fromEntries(rows.map(([row]) => [row, "holds"])));
  });
}
