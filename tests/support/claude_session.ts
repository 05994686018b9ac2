/**
 * A Claude session as the system sees it: a process named `claude` that starts hooks as its children.
 *
 * Behind the name is a shell that runs what it is told on its standard input. Each hook gets a process
 * group of its own, as the host gives it one.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { join } from "@std/path";
import { exists, textOf } from "./files.ts";
import type { TestHome } from "./home.ts";
import { until } from "./processes.ts";
import { environmentOf, type RunResult, TURNGUARD } from "./turnguard.ts";

/** How a session is started. */
export interface SessionOptions {
  /** Name of its process. */
  readonly name?: string;
  /** How many processes of that name stand above the one that starts hooks. */
  readonly outer?: number;
  /** Words before the command, such as those that take on another user's id. */
  readonly through?: (command: readonly string[]) => readonly string[];
}

/** What a hook is given. */
export interface HookOptions {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** A payload that every hook accepts. */
export const STOP_PAYLOAD = '{"stop_hook_active":true,"session_id":"S1"}';

/** Milliseconds after which a hook counts as hung; generous, since machines differ. */
const HUNG_MS = 60_000;

/** Tells its pid, starts the next one if there is one, and else does what it reads. */
const SHELL = `
echo "$$"
set -m
if [ "$1" -gt 0 ]; then "$0" -c "$2" "$0" "$(($1 - 1))" "$2"; exit; fi
while IFS= read -r line; do eval "$line"; done
`;

/** Starts a session that can run hooks for `home`. Bind it with `await using`, after the home. */
export async function openSession(
  home: TestHome,
  options: SessionOptions = {},
): Promise<ClaudeSession> {
  const outer = options.outer ?? 0;
  const folder = Deno.makeTempDirSync({ dir: home.folder, prefix: "session-" });
  // Whoever the hooks run as must be able to write there.
  Deno.chmodSync(folder, 0o777);
  const shell = join(folder, options.name ?? "claude");
  Deno.symlinkSync("/bin/bash", shell);
  const words = [shell, "-c", SHELL, shell, String(outer), SHELL];
  const [program = "", ...args] = options.through?.(words) ?? words;
  const child = new Deno.Command(program, {
    args,
    clearEnv: true,
    env: environmentOf({}),
    cwd: "/",
    stdin: "piped",
    stdout: "piped",
    // The shell reports there how its jobs ended.
    stderr: "null",
  }).spawn();
  const session = new ClaudeSession(home, folder, child);
  try {
    for (let shells = 0; shells <= outer; shells++) await session.meet();
  } catch (error) {
    await session[Symbol.asyncDispose]();
    throw error;
  }
  return session;
}

/** A running session. */
export class ClaudeSession implements AsyncDisposable {
  readonly #home: TestHome;
  readonly #folder: string;
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #lines: AsyncIterator<string>;
  readonly #shells: number[] = [];
  readonly #hooks = new Set<Hook>();
  #started = 0;
  /** Requests one after the other: the shell answers in order. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(home: TestHome, folder: string, child: Deno.ChildProcess) {
    this.#home = home;
    this.#folder = folder;
    this.#child = child;
    this.#writer = child.stdin.getWriter();
    this.#lines = linesOf(child.stdout)[Symbol.asyncIterator]();
  }

  /** Pid of the process that starts hooks. */
  get pid(): number {
    return this.#shells.at(-1) ?? 0;
  }

  /** Pids of all processes of the session, the outermost first. */
  get pids(): readonly number[] {
    return this.#shells;
  }

  /** Reads the pid that the next shell tells. */
  async meet(): Promise<void> {
    this.#shells.push(Number(await this.#answer()));
  }

  /** Records this session as the holder of the home's session lock. */
  hold(pid = this.pid): this {
    this.#home.write("state/.lock", `${pid}\n`);
    return this;
  }

  /** Starts the auto-arm hook. */
  async autoarm(options: HookOptions = {}): Promise<Hook> {
    return await this.start([TURNGUARD, "autoarm", ...this.#home.args], options);
  }

  /** Starts the park, in a session that goes by Cursor's name. */
  async park(options: HookOptions = {}): Promise<Hook> {
    return await this.start([TURNGUARD, "park", ...this.#home.args], options);
  }

  /** Runs the auto-arm hook to its end. */
  async fire(options: HookOptions = {}): Promise<RunResult> {
    return await (await this.autoarm(options)).ended();
  }

  /** Runs the guard to its end. */
  async stop(options: HookOptions = {}): Promise<RunResult> {
    const hook = await this.start([TURNGUARD, "stop", "--claude", ...this.#home.args], options);
    return await hook.ended();
  }

  /** Starts any program as a child of the session. */
  async start(command: readonly string[], options: HookOptions = {}): Promise<Hook> {
    const files = join(this.#folder, String(++this.#started));
    Deno.writeTextFileSync(`${files}.in`, options.stdin ?? STOP_PAYLOAD);
    const env = environmentOf({ ...this.#home.env, ...options.env });
    const words = [
      "/usr/bin/env",
      "-i",
      ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
      ...command,
    ].map(quoted);
    const redirections = [`<${quoted(`${files}.in`)}`, `>${quoted(`${files}.out`)}`];
    const line = [...words, ...redirections, `2>${quoted(`${files}.err`)}`, "& echo $!"].join(" ");
    // The session reads line by line; every line break is inside of quotes.
    const asked = line.replaceAll("\n", () => "'$'\\n''");
    const hook = new Hook(Number(await this.#ask(asked)), files, async (ended) => {
      const status = Number(await this.#ask(`wait ${ended.pid}; echo $?`));
      this.#hooks.delete(ended);
      return status;
    });
    this.#hooks.add(hook);
    return hook;
  }

  #ask(line: string): Promise<string> {
    const asked = this.#turn.then(async () => {
      await this.#writer.write(new TextEncoder().encode(`${line}\n`));
      return await this.#answer();
    });
    this.#turn = asked.catch(() => {});
    return asked;
  }

  async #answer(): Promise<string> {
    let timer: number | undefined;
    const hung = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${HUNG_MS} ms`)), HUNG_MS);
    });
    try {
      const next = await Promise.race([this.#lines.next(), hung]);
      if (next.done === true) throw new Error("the session has ended");
      return next.value;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the session as a crash would: its hooks live on. */
  async crash(): Promise<void> {
    for (const pid of this.#shells.toReversed()) kill(pid);
    await this.#child.status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const hook of this.#hooks) hook.kill();
    await this.crash();
    await this.#writer.abort().catch(() => {});
    await this.#lines.return?.();
    const left = processesOf(this.#home.root);
    for (const { pid } of left) kill(pid);
    await until(() => processesOf(this.#home.root).length === 0);
    assertEquals(left, [], "processes that a hook left behind");
  }
}

/** A hook that was started. */
export class Hook {
  readonly pid: number;
  readonly #files: string;
  readonly #wait: (hook: Hook) => Promise<number>;
  #ended: Promise<RunResult> | undefined;

  /** Made by {@link ClaudeSession} only. */
  constructor(pid: number, files: string, wait: (hook: Hook) => Promise<number>) {
    this.pid = pid;
    this.#files = files;
    this.#wait = wait;
  }

  /** How it ended; the session does nothing else until then. */
  ended(): Promise<RunResult> {
    return this.#ended ??= this.#result();
  }

  async #result(): Promise<RunResult> {
    const status = await this.#wait(this);
    // A hook that was killed at once may not even have got its output files.
    const [stdout, stderr] = ["out", "err"].map((name) =>
      exists(`${this.#files}.${name}`) ? Deno.readTextFileSync(`${this.#files}.${name}`) : ""
    );
    return { status, stdout: stdout ?? "", stderr: stderr ?? "" };
  }

  /** Sends a signal to it, or to it and everything that it started. */
  signal(name: Deno.Signal, to: "process" | "group" = "process"): void {
    Deno.kill(to === "group" ? -this.pid : this.pid, name);
  }

  /** Kills it and everything that it started. */
  kill(): void {
    kill(-this.pid);
  }
}

/** The arm that a home brings itself. It runs at the home's root, and counts its runs. */
export function writeArm(home: TestHome, ...body: readonly string[]): void {
  home.write(
    "bin/fm-watch-arm.sh",
    ["#!/bin/sh", 'cd "${0%/*}/.." || exit 1', "echo run >>arm.log", ...body, ""].join("\n"),
  );
  Deno.chmodSync(home.path("bin/fm-watch-arm.sh"), 0o755);
}

/** A shell command that prints lines. */
export function says(...lines: readonly string[]): string {
  return ["printf '%s\\n'", ...lines.map(quoted)].join(" ");
}

/** How often the arm of a home has run. */
export function armRuns(home: TestHome): number {
  return textOf(home.path("arm.log")).split("\n").length - 1;
}

/** The words of a ledger's first line; empty without one. */
export function ledgerOf(home: TestHome): Readonly<Record<string, string>> {
  const [first = ""] = textOf(home.path("state/.claude-autoarm-epoch")).split("\n");
  return Object.fromEntries(
    first.split(" ").filter((word) => word !== "").map((word) => {
      const [key = "", ...value] = word.split("=");
      return [key, value.join("=")];
    }),
  );
}

/** Whether a process answers signals and has not merely been left unasked for its status. */
export function isRunning(pid: number): boolean {
  try {
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}

/** Running processes whose command line names `path`. */
export function processesOf(
  path: string,
): readonly { readonly pid: number; readonly line: string }[] {
  return [...Deno.readDirSync("/proc")].map((entry) => Number(entry.name))
    .filter((pid) => Number.isInteger(pid) && isRunning(pid))
    .map((pid) => ({ pid, line: commandLine(pid) }))
    .filter(({ line }) => line.includes(path));
}

function commandLine(pid: number): string {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/cmdline`).replaceAll("\0", " ");
  } catch {
    return "";
  }
}

function kill(pid: number): void {
  try {
    Deno.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
