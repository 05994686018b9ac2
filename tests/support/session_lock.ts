/**
 * A session lock, the sessions that want it, and short words for what they are told.
 *
 * @module
 */

import { openSession, type SessionOptions } from "./claude_session.ts";
import type { ClaudeSession, Hook, HookOptions } from "./claude_session.ts";
import { exists, textOf } from "./files.ts";
import { makeHome, type TestHome } from "./home.ts";
import { below, identityOf, namedShell } from "./processes.ts";
import { playRowsIn, type Row } from "./rows.ts";
import { type RunResult, TURNGUARD } from "./turnguard.ts";

/** The session lock of a home. */
export const LOCK = "state/.lock";
/** The conversation that the lock's session has. */
export const SIDECAR = "state/.lock-session";
/** What an acquisition holds while it is at work. */
export const ACQUIRE = "state/.lock.acquire";

/** What the mode is asked to do. */
export type Verb = "acquire" | "release" | "status";

/** Opens a session over a home whose lock nobody holds. Bind it with `await using`. */
export async function makeLockHome(options: SessionOptions = {}): Promise<LockHome> {
  const home = makeHome();
  try {
    return new LockHome(home, await openSession(home, options));
  } catch (error) {
    await home[Symbol.asyncDispose]();
    throw error;
  }
}

/** One home, one session, and whoever else there is, by name. */
export class LockHome implements AsyncDisposable {
  readonly home: TestHome;
  readonly session: ClaudeSession;
  readonly #names = new Map<number, string>();

  /** Made by {@link makeLockHome}. */
  constructor(home: TestHome, session: ClaudeSession) {
    this.home = home;
    this.session = session;
    for (const [index, pid] of session.pids.toReversed().entries()) {
      this.name(pid, index === 0 ? "ours" : `outer${index}`);
    }
  }

  /** A path inside the home. */
  path(name: string): string {
    return this.home.path(name);
  }

  /** Gives a process the name by which outcomes tell of it. */
  name(pid: number, name: string): number {
    this.#names.set(pid, name);
    return pid;
  }

  /** A living process outside of the session, known by its program's name as `program`. */
  async other(program = "claude"): Promise<number> {
    const shell = namedShell(Deno.makeTempDirSync({ dir: this.home.folder }), program);
    const { pid } = this.home.sleeper(shell, ["-c", "read -r line"]);
    // Until then it is still a copy of this process.
    await identityOf(pid);
    return this.name(pid, "other");
  }

  /** Records a process as the lock's holder. */
  holds(pid: number): this {
    this.home.write(LOCK, `${pid}\n`);
    return this;
  }

  /** Records the conversation of the lock's session. */
  conversation(id: string): this {
    this.home.write(SIDECAR, `${id}\n`);
    return this;
  }

  /** The variables of the conversation `id`, which `pid` runs. */
  claude(id: string, pid: number | string = this.session.pid): HookOptions {
    return { env: { CLAUDE_CODE_SESSION_ID: id, CLAUDE_PID: String(pid) } };
  }

  /** Starts the mode as a child of the session, below the named programs, the outermost first. */
  async start(
    verb: Verb,
    options: HookOptions = {},
    programs: readonly string[] = [],
    flags: readonly string[] = [],
  ): Promise<Hook> {
    const folder = Deno.makeTempDirSync({ dir: this.home.folder, prefix: "line-" });
    Deno.chmodSync(folder, 0o755);
    const shells = programs.map((program) => namedShell(folder, program));
    const call = [TURNGUARD, "lock", verb, ...this.home.args, ...flags];
    const hook = await this.session.start(below(shells, call), options);
    if (programs.length > 0) this.name(hook.pid, "first");
    return hook;
  }

  /** Runs the mode to its end. */
  async run(...call: Parameters<LockHome["start"]>): Promise<RunResult> {
    return await (await this.start(...call)).ended();
  }

  /** Runs the mode to its end, in words. */
  async told(...call: Parameters<LockHome["start"]>): Promise<string> {
    return this.inWords(await this.run(...call));
  }

  /** What the mode said, with names instead of pids; anything unknown is told in full. */
  inWords({ status, stdout, stderr }: RunResult): string {
    const said = `${status}|${stdout}|${stderr}`;
    for (const [pattern, words] of SAYINGS) {
      const found = pattern.exec(said);
      if (found !== null) return this.#named(words(...found.slice(1)));
    }
    return this.#named(said);
  }

  /** The lock and its sidecar, and any litter of an acquisition. */
  left(): string {
    const litter = [...Deno.readDirSync(this.home.state)].map(({ name }) => name)
      .filter((name) => name.startsWith(".lock") && ![".lock", ".lock-session"].includes(name));
    const texts = [LOCK, SIDECAR].map((file) =>
      exists(this.path(file)) ? JSON.stringify(textOf(this.path(file))) : "-"
    );
    return this.#named([...texts, ...litter.toSorted()].join(" "));
  }

  #named(text: string): string {
    return text.replace(/[0-9]+/g, (digits) => this.#names.get(Number(digits)) ?? digits);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.session[Symbol.asyncDispose]();
    } finally {
      await this.home[Symbol.asyncDispose]();
    }
  }
}

/** Everything that the mode says, and how it is told. Scripts depend on the first three. */
const SAYINGS: readonly (readonly [RegExp, (...found: readonly string[]) => string])[] = [
  [/^0\|lock acquired: harness pid (\d+)\n\|$/, (pid) => `acquired for ${pid}`],
  [
    /^1\|\|error: another live firstmate session holds the lock \(pid (\d+(?:, session [^\n]+)?)\); operate read-only until resolved\n$/,
    (holder) => `held by ${holder}`,
  ],
  [/^1\|\|error: cannot locate harness process in ancestry\n$/, () => "no harness"],
  [/^0\|lock released\n\|$/, () => "released"],
  [
    /^1\|\|turnguard lock: the session lock is not this session's; it is as it was; /,
    () => "not ours",
  ],
  [
    /^1\|\|turnguard lock: the session lock in \/[^\n]+ cannot be (?:taken|released): ([^;\n]+); no other session has lost it; [^;\n]+\n$/,
    (because) => `unable: ${because}`,
  ],
  [/^0\|lock: ([^\n]+)\n\|$/, (state) => `${state}`],
];

/** A row that is played in a home with a session, and a lock that nobody holds. */
export type LockRow = Row<LockHome>;

/** What the rows come to, each in its own home. */
export async function playLockRows(
  rows: readonly LockRow[],
  options: SessionOptions = {},
): Promise<Readonly<Record<string, string>>> {
  return await playRowsIn(() => makeLockHome(options), rows);
}
