/**
 * A home with a Cursor session that holds its lock, and short words for what a park leaves in it.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { dirname, fromFileUrl, join } from "@std/path";
import {
  type ClaudeSession,
  type Hook,
  isRunning,
  openSession,
  type SessionOptions,
} from "./claude_session.ts";
import { exists, textOf } from "./files.ts";
import { type HomeOptions, makeHome, type TestHome } from "./home.ts";
import { until } from "./processes.ts";
import { type RunResult, tabulate, TURNGUARD } from "./turnguard.ts";

const FIXTURES = join(dirname(dirname(fromFileUrl(import.meta.url))), "fixtures", "payloads");

export const BATON = "state/.cursor-park-owner";
export const BATON_LOCK = "state/.cursor-park-owner.lock";
export const REPAIRS = "state/.turnend-cursor-blocks";

/** The id in {@link payload}, and what the marked prompts start with. */
export const SESSION = "conv-1";
export const MARK = "\u2063FIRSTMATE_OP: v1 ";

/** What a park is given. */
export interface ParkOptions {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Words instead of `park --root` with the home. */
  readonly command?: readonly string[];
}

/** How a home is made. */
export interface CursorHomeOptions {
  readonly home?: HomeOptions;
  readonly session?: SessionOptions;
}

/** Cursor's payload of a stop; every event has another generation. */
export function payload(
  changes: Readonly<Record<string, unknown>> = {},
  session: string = SESSION,
): string {
  return JSON.stringify({
    conversation_id: session,
    generation_id: crypto.randomUUID(),
    session_id: session,
    hook_event_name: "stop",
    cursor_version: "2026.08.11-e8db854",
    status: "completed",
    loop_count: 0,
    ...changes,
  });
}

/** A recorded payload. */
export function fixture(name: string): string {
  return Deno.readTextFileSync(join(FIXTURES, `${name}.json`));
}

/** Makes a home with one task, whose lock a Cursor session holds. Bind it with `await using`. */
export async function makeCursorHome(options: CursorHomeOptions = {}): Promise<CursorHome> {
  const home = makeHome(options.home);
  try {
    home.task();
    const session = await openSession(home, { name: "cursor-agent", ...options.session });
    return new CursorHome(home, session.hold());
  } catch (error) {
    await home[Symbol.asyncDispose]();
    throw error;
  }
}

/** One home and its session. */
export class CursorHome implements AsyncDisposable {
  readonly home: TestHome;
  readonly session: ClaudeSession;

  /** Made by {@link makeCursorHome}. */
  constructor(home: TestHome, session: ClaudeSession) {
    this.home = home;
    this.session = session;
  }

  /** A path inside the home. */
  path(...names: string[]): string {
    return this.home.path(...names);
  }

  /** Starts a park. */
  async start(options: ParkOptions = {}): Promise<Hook> {
    const command = options.command ?? [TURNGUARD, "park", ...this.home.args];
    const env = {
      FM_CURSOR_PARK_POLL: "1",
      FM_ARM_CONFIRM_TIMEOUT: "0",
      FM_ARM_ATTACH_POLL: "0.05",
      FM_POLL: "1",
      ...options.env,
    };
    return await this.session.start(command, { stdin: options.stdin ?? payload(), env });
  }

  /** Runs a park to its end. */
  async run(options: ParkOptions = {}): Promise<RunResult> {
    return await (await this.start(options)).ended();
  }

  /** Starts a park and waits until it is the home's watcher. */
  async parked(options: ParkOptions = {}): Promise<Hook> {
    const hook = await this.start(options);
    await this.untilWatching(hook);
    return hook;
  }

  /** Waits until a park holds the watch lock and has given a beat. */
  async untilWatching(hook: Hook): Promise<void> {
    await until(() =>
      !isRunning(hook.pid) || (
        textOf(this.path("state/.watch.lock/pid")) === `${hook.pid}\n` &&
        exists(this.path("state/.last-watcher-beat")) &&
        textOf(this.path("state/.watch.lock/pid-identity")) !== ""
      ), 30_000);
    if (!isRunning(hook.pid)) throw new Error(`it did not park: ${this.journal().join("; ")}`);
  }

  /** Verdict and code of every park in the journal. */
  journal(): readonly string[] {
    return textOf(this.path("state/.turnguard-journal.jsonl")).split("\n")
      .filter((line) => line.includes('"mode":"park"'))
      .map((line) => {
        const { verdict, code } = JSON.parse(line);
        return `${verdict} ${code}`;
      });
  }

  /** The sequence in the baton; 0 without one. */
  sequence(): number {
    return Number(/^seq=([0-9]+) /.exec(textOf(this.path(BATON)))?.[1] ?? "0");
  }

  /** What of a park is left that nobody will remove. */
  litter(): readonly string[] {
    return [...Deno.readDirSync(this.home.state)].map(({ name }) => name)
      .filter((name) =>
        /\.tmp\.|\.lock\.|\.cursor-park-output|\.cursor-park-owner\.lock/.test(name)
      )
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

/** The message of a park's answer; what is no answer, or more than one, fails. */
export function messageOf({ status, stdout, stderr }: RunResult): string {
  assertEquals([status, stderr], [0, ""], stdout);
  const lines = stdout.split("\n");
  assertEquals([lines.length, lines[1]], [2, ""], `not one line: ${stdout}`);
  const answer: unknown = JSON.parse(lines[0] ?? "");
  const entries = Object.entries(answer ?? {});
  assertEquals(entries.map(([name]) => name), ["followup_message"]);
  return String(entries[0]?.[1]);
}

/** A park's end in one word: `silent`, or the kind of its follow-up and its first line. */
export function saidBy(result: RunResult): string {
  if (result.status === 0 && result.stdout === "" && result.stderr === "") return "silent";
  const message = messageOf(result);
  const [, kind, first] = /^\u2063FIRSTMATE_OP: v1 ([a-z-]+): ([^\n]*)/.exec(message) ?? [];
  if (kind === undefined || first === undefined) return `unmarked: ${message}`;
  return `${kind}: ${first}`;
}

/** A scenario by its name, played in a home of its own. */
export type Scenario = readonly [name: string, play: (home: CursorHome) => Promise<void>];

/** Plays scenarios, some at a time; all of them have to hold. */
export function scenarios(name: string, rows: readonly Scenario[]): void {
  Deno.test(name, async () => {
    const outcomes = await tabulate(rows, ([row]) => row, async ([, play]) => {
      try {
        const home = await makeCursorHome();
        await using _home = home;
        await play(home);
        return "holds";
      } catch (error) {
        return error instanceof Error ? `${error.message}\n${error.stack}` : String(error);
      }
    });
    assertEquals(outcomes, Object.fromEntries(rows.map(([row]) => [row, "holds"])));
  });
}
