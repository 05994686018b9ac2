/**
 * Runs the built executable the way a harness does: a payload on standard input, an environment of
 * its own, and a limit after which it counts as hung.
 *
 * @module
 */

import { fail } from "@std/assert";
import { dirname, fromFileUrl, join, resolve } from "@std/path";

const PROJECT = dirname(dirname(dirname(fromFileUrl(import.meta.url))));

/** The executable under test: `TURNGUARD_BINARY`, else the one that was built. */
export const TURNGUARD = resolve(
  Deno.env.get("TURNGUARD_BINARY") || join(PROJECT, "dist", "turnguard"),
);

/** Milliseconds after which a run is hung; generous, since machines differ. */
const HUNG_MS = 30_000;

/** A payload of a turn's first end. */
export const FIRST_STOP = '{"stop_hook_active":false,"session_id":"S1"}';

/** What a run is given. */
export interface RunOptions {
  /**
   * Standard input: text or bytes and then the end of the file; `open` bytes and no end; or nothing
   * at all (`/dev/null`). An empty input when absent.
   */
  readonly stdin?: string | Uint8Array | { readonly open: string } | null;
  /** Variables on top of {@link MINIMAL_ENVIRONMENT}; `undefined` removes one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly limitMs?: number;
}

/** How a run ended. */
export interface RunResult {
  /** Exit status; 128 plus its number for a signal. */
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What a child sees of this machine unless a test says otherwise. */
export const MINIMAL_ENVIRONMENT: Readonly<Record<string, string>> = { PATH: "/usr/bin:/bin" };

/** Runs the executable. Fails the test when it does not end in time. */
export function runTurnguard(
  args: readonly string[],
  options: RunOptions = {},
): Promise<RunResult> {
  return runProgram([TURNGUARD, ...args], options);
}

/** What a start is given; each stream is nothing unless it is asked for. */
export interface StartOptions {
  /** Variables on top of {@link MINIMAL_ENVIRONMENT}; `undefined` removes one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly stdin?: "piped";
  readonly stdout?: "piped";
  readonly stderr?: "piped";
}

/** Starts the executable, for a test that feeds, reads or stops it by its own hand. */
export function startTurnguard(
  args: readonly string[],
  options: StartOptions = {},
): Deno.ChildProcess {
  return new Deno.Command(TURNGUARD, {
    args: [...args],
    clearEnv: true,
    env: environmentOf(options.env ?? {}),
    cwd: "/",
    stdin: options.stdin ?? "null",
    stdout: options.stdout ?? "null",
    stderr: options.stderr ?? "null",
  }).spawn();
}

/** Runs any program in the same way. */
export async function runProgram(
  command: readonly string[],
  options: RunOptions = {},
): Promise<RunResult> {
  const [program = "", ...args] = command;
  const child = new Deno.Command(program, {
    args,
    clearEnv: true,
    env: environmentOf(options.env ?? {}),
    cwd: options.cwd ?? "/",
    stdin: options.stdin === null ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const [fed, ended] = await Promise.allSettled([
    options.stdin === null ? undefined : feed(child.stdin, options.stdin ?? ""),
    ends(child, command, options.limitMs ?? HUNG_MS),
  ]);
  if (options.stdin !== null) await child.stdin.close().catch(() => {});
  if (fed.status === "rejected") throw fed.reason;
  if (ended.status === "rejected") throw ended.reason;
  return ended.value;
}

/** The variables of a child: the minimal ones, changed as a test wants. */
export function environmentOf(
  changes: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries({ ...MINIMAL_ENVIRONMENT, ...changes })) {
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}

async function ends(
  child: Deno.ChildProcess,
  command: readonly string[],
  limitMs: number,
): Promise<RunResult> {
  let hung = false;
  const timer = setTimeout(() => {
    hung = true;
    child.kill("SIGKILL");
  }, limitMs);
  try {
    const { code, stdout, stderr } = await child.output();
    if (hung) fail(`hung for ${limitMs} ms: ${command.join(" ").slice(0, 200)}`);
    const decoder = new TextDecoder();
    return { status: code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
  } finally {
    clearTimeout(timer);
  }
}

async function feed(
  stdin: WritableStream<Uint8Array>,
  input: string | Uint8Array | { readonly open: string },
): Promise<void> {
  const writer = stdin.getWriter();
  try {
    const open = typeof input !== "string" && !(input instanceof Uint8Array);
    const text = open ? input.open : input;
    const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
    if (bytes.length > 0) await writer.write(bytes);
    if (!open) await writer.close();
  } catch (error) {
    // A program that needs no input may end before it has read any.
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  } finally {
    writer.releaseLock();
  }
}

/** The line that every banner starts and ends with. */
export const RULE_LINE = "●" + "━".repeat(71);

/** The four fixed lines of a banner around its repair line, and notices before that. */
export function bannerText(
  need: string,
  beat: string,
  repair: string,
  notices: readonly string[] = [],
): string {
  return [
    RULE_LINE,
    "●  TURN WOULD END BLIND - SUPERVISION IS OFF",
    `●  ${need}, but no live watcher holds this home lock (last beat: ${beat}).`,
    ...[...notices, repair].map((line) => `●  ${line}`),
    RULE_LINE,
    "",
  ].join("\n");
}

/** A run in one word; a run that is neither is told in full, so that a table shows what happened. */
export function verdictOf({ status, stdout, stderr }: RunResult): string {
  if (status === 0 && stdout === "" && stderr === "") return "allow";
  const lines = stderr.split("\n");
  const banner = lines[0] === RULE_LINE && lines.at(-2) === RULE_LINE && lines.at(-1) === "" &&
    lines[1] === "●  TURN WOULD END BLIND - SUPERVISION IS OFF";
  if (status === 2 && stdout === "" && banner) return "block";
  return `status ${status}, stdout ${JSON.stringify(stdout)}, stderr ${JSON.stringify(stderr)}`;
}

/** The line of a banner that names the repair. */
export function repairLineOf({ stderr }: RunResult): string {
  return stderr.split("\n").at(-3) ?? "";
}

/** Runs `work` over `rows`, a few at a time, and returns the results in the order of the rows. */
export async function inBatches<Row, Result>(
  rows: readonly Row[],
  work: (row: Row) => Promise<Result>,
  width = 4,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const queue = rows.entries();
  await Promise.all(Array.from({ length: width }, async () => {
    for (const [index, row] of queue) results[index] = await work(row);
  }));
  return results;
}

/** {@link inBatches} for a table: what each named row came to. */
export async function tabulate<Row>(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
  work: (row: Row) => Promise<string>,
): Promise<Readonly<Record<string, string>>> {
  const outcomes = await inBatches(rows, work);
  return Object.fromEntries(rows.map((row, index) => [nameOf(row), outcomes[index] ?? ""]));
}
