/**
 * A home with a Claude session that holds its lock, and short words for everything that the guard and
 * the auto-arm leave for each other in it.
 *
 * @module
 */

import { assertStringIncludes } from "@std/assert";
import { type Hook, openSession, type SessionOptions } from "./claude_session.ts";
import type { ClaudeSession } from "./claude_session.ts";
import { exists, textOf } from "./files.ts";
import { type HomeOptions, makeHome, type TestHome } from "./home.ts";
import { identityOf, namedShell, type Sleeper, until } from "./processes.ts";
import { playRowsIn, type Row } from "./rows.ts";
import { type RunResult, TURNGUARD, verdictOf } from "./turnguard.ts";

export const LEDGER = "state/.claude-autoarm-epoch";
export const BUDGET = "state/.turnend-claude-blocks";
export const NOTICE = "state/.claude-autoarm-failure-notified";
export const ALARM = "state/.claude-autoarm-failure-alarmed";
export const OWNER_LOCK = "state/.claude-autoarm.lock";
export const BUDGET_LOCK = "state/.turnend-claude-blocks.lock";

/** The session id in the payload of {@link GuardHome.stop}. */
export const SESSION = "S1";

/** How a home is made. */
export interface GuardHomeOptions {
  readonly home?: HomeOptions;
  readonly session?: SessionOptions;
}

/** What a stop is given. */
export interface StopOptions {
  /** Milliseconds of the guard's wait; `null` leaves its default. */
  readonly waitMs?: number | null;
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** An entry of the ledger. */
export interface LedgerOptions {
  readonly age?: number;
  readonly ownerPid?: number | string;
  /** Further words of line 1, each with a blank before it. */
  readonly words?: string;
  /** Lines after the first. */
  readonly lines?: readonly string[];
}

/** An open claim; what is absent is as it truly is. */
export interface ClaimOptions {
  readonly age?: number;
  /** Its owner; a new child of the session when absent. */
  readonly owner?: number;
  /** Line 2; `null` leaves it out. */
  readonly identity?: string | null;
  readonly words?: string;
  /** Line 3. */
  readonly holderIdentity?: string;
}

/** Makes a home with one task, whose lock the session holds. Bind it with `await using`. */
export async function makeGuardHome(options: GuardHomeOptions = {}): Promise<GuardHome> {
  const home = makeHome(options.home);
  try {
    home.task();
    const session = await openSession(home, options.session);
    return new GuardHome(home, session.hold());
  } catch (error) {
    await home[Symbol.asyncDispose]();
    throw error;
  }
}

/** One home and its session. */
export class GuardHome implements AsyncDisposable {
  readonly home: TestHome;
  readonly session: ClaudeSession;

  /** Made by {@link makeGuardHome}. */
  constructor(home: TestHome, session: ClaudeSession) {
    this.home = home;
    this.session = session;
  }

  /** A path inside the home. */
  path(name: string): string {
    return this.home.path(name);
  }

  /** `L(outcome, epoch, age)`: a ledger whose owner is of no interest. */
  ledger(outcome: string, epoch: number | string, options: LedgerOptions = {}): this {
    const { ownerPid = 999, words = "", lines = [], age = 0 } = options;
    const first = `epoch=${epoch} owner_pid=${ownerPid} outcome=${outcome} updated_at=1${words}`;
    return this.ledgerText([first, ...lines, ""].join("\n"), age);
  }

  /** Any text as the ledger. Renamed into place, as its writers do. */
  ledgerText(text: string, age = 0): this {
    this.home.write(`${LEDGER}.test`, text);
    const second = Math.floor(Date.now() / 1000) - age;
    Deno.utimeSync(this.path(`${LEDGER}.test`), second, second);
    Deno.renameSync(this.path(`${LEDGER}.test`), this.path(LEDGER));
    return this;
  }

  /** `Lopen(epoch)`: a claim of a living process. */
  async open(epoch: number, options: ClaimOptions = {}): Promise<number> {
    const owner = options.owner ?? await this.child();
    const identity = options.identity === undefined ? await identityOf(owner) : options.identity;
    this.ledger("arming", epoch, {
      age: options.age ?? 0,
      ownerPid: owner,
      words: options.words ?? "",
      lines: [identity, options.holderIdentity].filter((line) => typeof line === "string"),
    });
    return owner;
  }

  /** `B(count, epoch)` of the payload's session, or of another one. */
  budget(count: number | string, epoch: number | string, session = SESSION): this {
    this.home.write(BUDGET, `session=${session}\ncount=${count}\nepoch=${epoch}\n`);
    return this;
  }

  /** `N`: the failure notice was delivered. */
  notice(): this {
    this.home.write(NOTICE);
    return this;
  }

  /** `A`: the alarm was raised. */
  alarm(): this {
    this.home.write(ALARM);
    return this;
  }

  /** All three files of an episode. */
  episode(): this {
    return this.budget(2, 3).notice().alarm();
  }

  /** The situation of an exhausted, verified episode: the next charge raises the alarm. */
  exhausted(): this {
    return this.notice().ledger("failed-suppressed", 3, { age: 100 }).budget(3, 2);
  }

  /** A lock that a process holds, in the layout that the lock primitive makes. */
  lock(
    name: string,
    pid: number,
    files: { readonly role?: string; readonly identity?: string } = {},
  ): this {
    const owner = `${name}.owner.Te5tEr`;
    this.home.write(`${owner}/pid`, `${pid}\n`);
    if (files.role !== undefined) this.home.write(`${owner}/role`, `${files.role}\n`);
    if (files.identity !== undefined) {
      this.home.write(`${owner}/pid-identity`, `${files.identity}\n`);
    }
    Deno.symlinkSync(this.path(owner), this.path(name));
    return this;
  }

  /** A living process outside of the session. */
  outsider(): Sleeper {
    return this.home.sleeper();
  }

  /** A living process outside of the session that is a harness by its name. */
  foreignHarness(): Sleeper {
    return this.home.sleeper(namedShell(this.home.folder, "claude"), ["-c", "read -r line"]);
  }

  /** A living child of the session; it ends with the session, or soon after this process. */
  async child(): Promise<number> {
    const script = `while kill -0 ${Deno.pid}; do sleep 1; done`;
    const { pid } = await this.session.start(["/bin/sh", "-c", script]);
    // The shell's own copy has the session's command line until it has become this program.
    await until(() => textOf(`/proc/${pid}/cmdline`).startsWith("/bin/sh\0-c\0while"));
    return pid;
  }

  /** Starts a guard. */
  async guard(options: StopOptions = {}): Promise<Hook> {
    return await this.session.start(
      [TURNGUARD, "stop", "--claude", ...this.home.args],
      hookOptions(options),
    );
  }

  /** Runs a guard to its end. */
  async run(options: StopOptions = {}): Promise<RunResult> {
    return await (await this.guard(options)).ended();
  }

  /** Runs a guard to its end; its verdict in one word. */
  async stop(options: StopOptions = {}): Promise<string> {
    return guardVerdict(await this.run(options));
  }

  /** Runs as many stops as there are words to give, one after the other. */
  async stops(count: number, options: StopOptions = {}): Promise<string> {
    const verdicts: string[] = [];
    for (let stop = 0; stop < count; stop++) verdicts.push(await this.stop(options));
    return verdicts.join(" ");
  }

  /** What the guards left: budget and markers, such as `B(4,3) N A`. */
  left(): string {
    const markers = [[NOTICE, "N"], [ALARM, "A"]] as const;
    return [
      this.budgetLeft(),
      ...markers.filter(([path]) => exists(this.path(path))).map(([, letter]) => letter),
    ].join(" ");
  }

  /** The budget: `B(count,epoch)`, with its session where that is another, or `-`. */
  budgetLeft(): string {
    if (!exists(this.path(BUDGET))) return "-";
    if (!Deno.statSync(this.path(BUDGET)).isFile) return "B=directory";
    const text = textOf(this.path(BUDGET));
    const found = /^session=(.*)\ncount=([0-9]+)\nepoch=([0-9]*)\n(?:charge=.*\n)?$/.exec(text);
    if (found === null) return `B=${JSON.stringify(text)}`;
    const [, session, count, epoch] = found;
    return session === SESSION ? `B(${count},${epoch})` : `B(${count},${epoch}) of ${session}`;
  }

  /** The count alone. */
  count(): number {
    return Number(/^count=([0-9]+)$/m.exec(textOf(this.path(BUDGET)))?.[1] ?? Number.NaN);
  }

  /** Locks and temporary files that no guard may leave behind. */
  litter(): readonly string[] {
    return [...Deno.readDirSync(this.home.state)].map(({ name }) => name)
      .filter((name) => name.includes(".lock.") || name.includes(".tmp.") || name.endsWith(".lock"))
      .filter((name) => ![".lock", ".watch.lock"].includes(name))
      .filter((name) => !name.startsWith(".watch.lock.owner."))
      .sort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.session[Symbol.asyncDispose]();
    } finally {
      await this.home[Symbol.asyncDispose]();
    }
  }
}

function hookOptions(options: StopOptions): {
  readonly stdin?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
} {
  const waitMs = options.waitMs === undefined ? 100 : options.waitMs;
  const env = {
    FM_CLAUDE_AUTOARM_SYNC_WAIT_MS: waitMs === null ? undefined : String(waitMs),
    ...options.env,
  };
  return options.stdin === undefined ? { env } : { stdin: options.stdin, env };
}

/** Waits until a guard has looked once and now waits for changes. */
export async function untilWaiting({ pid }: Hook): Promise<void> {
  await until(() => {
    try {
      return [...Deno.readDirSync(`/proc/${pid}/fd`)].some(({ name }) =>
        Deno.readLinkSync(`/proc/${pid}/fd/${name}`) === "anon_inode:inotify"
      );
    } catch {
      return false;
    }
  });
}

/**
 * A guard's run in one word: `allow`, `block`, `alarm`, `foreign` or `unrecorded`; anything else is
 * told in full. The words that other programs look for are part of what each stands for.
 */
export function guardVerdict(run: RunResult): string {
  const message = systemMessageOf(run);
  if (message?.startsWith("FIRSTMATE SUPERVISION IS GENUINELY DOWN: ") === true) {
    for (const phrase of ALARM_PHRASES) assertStringIncludes(message, phrase);
    return message.includes("fm-watch-arm.sh") ? message : "alarm";
  }
  if (message?.startsWith("FIRSTMATE SUPERVISION IS OWNED BY ANOTHER LIVE SESSION: ") === true) {
    return "foreign";
  }
  const { status, stdout, stderr } = run;
  const unrecorded = /^● {2}SUPERVISION RECOVERY NOT RECORDED [^\n]+\n$/.test(stderr) &&
    !stderr.includes("TURN WOULD END BLIND");
  if (status === 2 && stdout === "" && unrecorded) return "unrecorded";
  const verdict = verdictOf(run);
  if (verdict === "block") {
    assertStringIncludes(stderr, "Stop-owned auto-arm did not claim this home");
    assertStringIncludes(stderr, "recovery is NOT already under way");
  }
  return verdict;
}

const ALARM_PHRASES = [
  "no watcher or automatic continuation exists",
  "the block budget is exhausted",
  "Keep this session attended",
  "diagnose the automatic Stop-hook and watcher startup",
];

/** The one message on standard output of a turn that ends; `undefined` for anything else. */
export function systemMessageOf({ status, stdout, stderr }: RunResult): string | undefined {
  if (status !== 0 || stderr !== "" || !/^\{[^\n]*\}\n$/.test(stdout)) return undefined;
  const value: unknown = JSON.parse(stdout);
  if (typeof value !== "object" || value === null) return undefined;
  const [only, ...others] = Object.entries(value);
  if (only === undefined || others.length > 0 || only[0] !== "systemMessage") return undefined;
  return typeof only[1] === "string" ? only[1] : undefined;
}

/** A row that is played in a home with a session. */
export type GuardRow = Row<GuardHome>;

/** What the rows come to, each in its own home. */
export async function playRows(
  rows: readonly GuardRow[],
  options: GuardHomeOptions = {},
): Promise<Readonly<Record<string, string>>> {
  return await playRowsIn(() => makeGuardHome(options), rows);
}
