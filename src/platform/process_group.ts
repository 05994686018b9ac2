/** Programs that lead a process group of their own, so that whatever they start can be ended too. */

import { isPid, type Pid } from "./pid.ts";
import { runProgram } from "./program.ts";

/** A program to run as the leader of a new group; it inherits environment and working directory. */
export interface GroupCommand {
  /** Absolute path of the program. */
  readonly path: string;
  readonly args: readonly string[];
  /** Variables on top of the inherited ones. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The folder to start in, instead of the inherited one. */
  readonly workingDirectory?: string;
  /** Standard input; nothing when absent. */
  readonly input?: string;
}

/** What bounds a run. */
export interface GroupLimits {
  readonly deadlineMs: number;
  /** Bytes of standard output that are kept; the rest is read and dropped. */
  readonly outputLimitBytes: number;
  /** Bytes of standard error that are kept; without it, standard error leads nowhere. */
  readonly errorLimitBytes?: number;
  /** How long the group is given to end once it was asked. */
  readonly end?: EndLimits;
  /** Called at least once a second while the program runs, and no more once it is being ended. */
  readonly tick: () => void;
  /** Resolves when the program is to be ended early. */
  readonly stop: Promise<unknown>;
}

/** How a run ended. */
export type GroupEnd =
  | { readonly kind: "not-started"; readonly because: string }
  | {
    readonly kind: "ended" | "timed-out" | "stopped";
    readonly output: Uint8Array<ArrayBuffer>;
    /** Standard error; empty where it was not kept. */
    readonly errors: Uint8Array<ArrayBuffer>;
    /** Exit status of the program itself; `undefined` when it did not end by itself. */
    readonly status: number | undefined;
    /** Whether the whole group is known to be gone. */
    readonly group: "gone" | "remains";
  };

/** Milliseconds between two ticks. */
const TICK_MS = 500;

/** Milliseconds that a group has to end after it was asked, and after it was killed. */
const TERM_LIMIT_MS = 200;
const KILL_LIMIT_MS = 1_000;

/** Milliseconds between tests of a group that is ending, and between closer looks at it. */
const STEP_MS = 10;
const LOOK_STEP_MS = 100;

/**
 * Milliseconds for reading what is left in the pipe: a process that left the group may hold it open
 * for ever.
 */
const DRAIN_LIMIT_MS = 1_000;

/**
 * Runs a program until it ends, until its deadline, or until it is stopped; then ends what is left of
 * its group, so that nothing stays behind in any case.
 *
 * Standard input has the given text, or leads nowhere. Throws what `tick` throws, with the group ended.
 */
export async function runGroup(command: GroupCommand, limits: GroupLimits): Promise<GroupEnd> {
  const { errorLimitBytes } = limits;
  const child = startGroup(command, errorLimitBytes === undefined ? "null" : "piped");
  if (child.kind === "not-started") return child;
  const output = new BoundedReader(child.process.stdout, limits.outputLimitBytes);
  const errors = errorLimitBytes === undefined
    ? undefined
    : new BoundedReader(child.process.stderr, errorLimitBytes);
  let group: "gone" | "remains" = "remains";
  let kind: "ended" | "timed-out" | "stopped";
  try {
    kind = await waitForEnd(child.process.status, limits);
  } finally {
    group = await endGroup(child.leader, limits.end);
    await Promise.all([output.finish(DRAIN_LIMIT_MS), errors?.finish(DRAIN_LIMIT_MS)]);
    // A process that cannot be ended must not keep this one from ending.
    if (group === "remains") child.process.unref();
  }
  const status = kind === "ended" ? (await child.process.status).code : undefined;
  const kept = { output: output.bytes(), errors: errors?.bytes() ?? new Uint8Array(0) };
  return { kind, ...kept, status, group };
}

type Started =
  | { readonly kind: "not-started"; readonly because: string }
  | { readonly kind: "started"; readonly process: Deno.ChildProcess; readonly leader: Pid };

function startGroup(command: GroupCommand, stderr: "null" | "piped"): Started {
  try {
    const process = new Deno.Command(command.path, {
      args: [...command.args],
      env: { ...command.environment },
      ...(command.workingDirectory === undefined ? {} : { cwd: command.workingDirectory }),
      stdin: command.input === undefined ? "null" : "piped",
      stdout: "piped",
      stderr,
      detached: true,
    }).spawn();
    if (command.input !== undefined) void feed(process.stdin, command.input);
    if (!isPid(process.pid)) return { kind: "not-started", because: "it has no process id" };
    return { kind: "started", process, leader: process.pid };
  } catch (error) {
    return { kind: "not-started", because: error instanceof Error ? error.message : String(error) };
  }
}

/** A program that does not read what it is given is none the worse for it. */
async function feed(stdin: WritableStream<Uint8Array>, text: string): Promise<void> {
  try {
    await ReadableStream.from([new TextEncoder().encode(text)]).pipeTo(stdin);
  } catch {
    // It ended, or closed its end, before it had read everything.
  }
}

/** The waiting itself does the ticking: a timer of its own would beat on while this loop is stuck. */
async function waitForEnd(
  status: Promise<unknown>,
  { deadlineMs, tick, stop }: GroupLimits,
): Promise<"ended" | "timed-out" | "stopped"> {
  const ended = status.then(() => "ended" as const);
  const stopped = stop.then(() => "stopped" as const);
  const end = performance.now() + deadlineMs;
  while (true) {
    const leftMs = end - performance.now();
    if (leftMs <= 0) return "timed-out";
    const seen = await firstOf([ended, stopped], Math.min(leftMs, TICK_MS));
    if (seen !== undefined) return seen;
    tick();
  }
}

/** The first answer within `limitMs`, or `undefined`. */
async function firstOf<Answer>(
  answers: readonly Promise<Answer>[],
  limitMs: number,
): Promise<Answer | undefined> {
  let timer: number | undefined;
  const limit = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), limitMs);
  });
  try {
    return await Promise.race([...answers, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** How long a group is given. */
export interface EndLimits {
  readonly termMs: number;
  readonly killMs: number;
}

/**
 * Ends every process of a group: TERM, a moment, KILL, a while.
 *
 * `remains` means that it could not be proven gone. The group is named by its leader; the caller
 * knows that this pid still means that group.
 */
export async function endGroup(
  leader: Pid,
  limits: EndLimits = { termMs: TERM_LIMIT_MS, killMs: KILL_LIMIT_MS },
): Promise<"gone" | "remains"> {
  signalGroup(leader, "SIGTERM");
  if (await isGoneWithin(leader, limits.termMs)) return "gone";
  signalGroup(leader, "SIGKILL");
  return await isGoneWithin(leader, limits.killMs) ? "gone" : "remains";
}

function signalGroup(leader: Pid, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    Deno.kill(-leader, signal);
  } catch {
    // Gone already, or not ours: what follows looks for itself.
  }
}

async function isGoneWithin(leader: Pid, limitMs: number): Promise<boolean> {
  const end = performance.now() + limitMs;
  let lookAt = performance.now() + LOOK_STEP_MS;
  while (answers(leader)) {
    const now = performance.now();
    if (now >= end) return await hasOnlyZombies(leader);
    if (now >= lookAt) {
      if (await hasOnlyZombies(leader)) return true;
      lookAt = performance.now() + LOOK_STEP_MS;
    }
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
  }
  return true;
}

/**
 * Whether no process of the group runs any more.
 *
 * Where nobody collects orphans (many containers), one that has ended stays listed for ever and
 * answers signal 0; such a process counts as gone.
 */
export async function isGroupGone(leader: Pid): Promise<boolean> {
  return !answers(leader) || await hasOnlyZombies(leader);
}

/** Whether any process of the group is listed; one of another user counts. */
function answers(leader: Pid): boolean {
  try {
    Deno.kill(-leader, 0);
    return true;
  } catch (error) {
    return !(error instanceof Deno.errors.NotFound);
  }
}

async function hasOnlyZombies(leader: Pid): Promise<boolean> {
  const members = await membersOf(leader);
  return members.length > 0 && members.every((member) => member.ended);
}

/** What is left of a group. */
export type GroupState =
  | "gone"
  /** Its leader runs. */
  | "led"
  /** Its leader has ended, others run. */
  | "leaderless"
  /** Something answers, but it cannot be listed. */
  | "unknown";

/** Looks at a group without touching it. */
export async function groupState(leader: Pid): Promise<GroupState> {
  if (!answers(leader)) return "gone";
  const members = await membersOf(leader);
  if (members.length === 0) return answers(leader) ? "unknown" : "gone";
  const running = members.filter((member) => !member.ended);
  if (running.length === 0) return "gone";
  return running.some((member) => member.pid === String(leader)) ? "led" : "leaderless";
}

/** Whether this process leads the group that it is in. */
export function leadsOwnGroup(): boolean {
  // A group bears the pid of its leader, and nobody else can have made one with ours.
  return isPid(Deno.pid) && answers(Deno.pid);
}

interface Member {
  readonly pid: string;
  /** Ended, but not collected by its parent. */
  readonly ended: boolean;
}

/** Processes of a group; empty when they cannot be listed. */
async function membersOf(leader: Pid): Promise<readonly Member[]> {
  const files = procStatFiles();
  const line = files.length > 0
    // The name in parentheses may hold blanks and parentheses; what follows the last one is plain.
    ? /^(?<pid>[0-9]+) \(.*\) (?<state>\S) [0-9]+ (?<group>[0-9]+) /
    : /^\s*(?<pid>[0-9]+)\s+(?<group>[0-9]+)\s+(?<state>\S+)/;
  const listing = files.length > 0
    ? await runProgram("cat", files)
    : await runProgram("ps", ["-axo", "pid=,pgid=,state="]);
  if (listing.kind !== "answered") return [];
  return new TextDecoder().decode(listing.stdout).split("\n")
    .map((text) => line.exec(text)?.groups)
    .filter((fields) => fields?.["group"] === String(leader))
    .map((fields) => ({
      pid: fields?.["pid"] ?? "",
      ended: fields?.["state"]?.startsWith("Z") ?? false,
    }));
}

function procStatFiles(): readonly string[] {
  try {
    return [...Deno.readDirSync("/proc")]
      .filter((entry) => /^[0-9]+$/.test(entry.name))
      .map((entry) => `/proc/${entry.name}/stat`);
  } catch {
    return [];
  }
}

/** Reads a stream to its end, keeps the first bytes and drops the rest. */
class BoundedReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
  readonly #limit: number;
  readonly #parts: Uint8Array<ArrayBuffer>[] = [];
  readonly #done: Promise<"end">;
  #kept = 0;

  constructor(stream: ReadableStream<Uint8Array<ArrayBuffer>>, limit: number) {
    this.#reader = stream.getReader();
    this.#limit = limit;
    this.#done = this.#readAll();
  }

  async #readAll(): Promise<"end"> {
    try {
      while (true) {
        const { done, value } = await this.#reader.read();
        if (done) return "end";
        this.#keep(value);
      }
    } catch {
      // A pipe that breaks ends the output there.
      return "end";
    }
  }

  #keep(part: Uint8Array<ArrayBuffer>): void {
    const kept = part.subarray(0, this.#limit - this.#kept);
    if (kept.length === 0) return;
    this.#parts.push(kept);
    this.#kept += kept.length;
  }

  /** Waits for the end of the stream, but no longer than `limitMs`, and lets go of it. */
  async finish(limitMs: number): Promise<void> {
    if (await firstOf([this.#done], limitMs) === undefined) await this.#reader.cancel();
  }

  bytes(): Uint8Array<ArrayBuffer> {
    const whole = new Uint8Array(this.#kept);
    let offset = 0;
    for (const part of this.#parts) {
      whole.set(part, offset);
      offset += part.length;
    }
    return whole;
  }
}
