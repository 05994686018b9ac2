/** Ending a target and what belongs to it, without ever ending anything else. */

import {
  ancestors,
  type ProcessRow,
  selectProcesses,
} from "../../decide/watchdog/select_processes.ts";
import type { WatchdogOptions } from "../../decide/watchdog/watchdog_options.ts";
import { markedPids, processTable } from "./process_table.ts";
import type { Target } from "./target.ts";

/** What ending needs. */
export interface EndRequest {
  readonly target: Target;
  readonly options: Pick<WatchdogOptions, "grace" | "signal" | "sweep">;
  /** The run's mark in the environment of what it started. */
  readonly mark: string | undefined;
  readonly uid: number;
  /** Pids that must survive, besides the watchdog and what stands above it. */
  readonly spared: readonly number[];
  /** Called when the processes are known and before the first signal. */
  readonly decided: () => void;
  /** Resolves when somebody wants it to be over at once. */
  readonly hurry: Promise<void>;
  /** Whether the target was asked to end already, by a signal that was handed on. */
  readonly asked: boolean;
}

/** How ending went. */
export interface EndOutcome {
  readonly signals: readonly string[];
  readonly killed: boolean;
  readonly leftRunning: number;
}

/** Seconds for those outside of the group, and for the target to vanish after KILL. */
const STRAGGLER_SECONDS = 2;
const KILL_SECONDS = 5;
const ROUNDS = 5;
const ROUND_MS = 200;
const STEP_MS = 50;

/** Asks the target to end, then what is left of it, and kills what does not. Never throws. */
export async function endTarget(request: EndRequest): Promise<EndOutcome> {
  const { target, options } = request;
  const signals: string[] = [];
  const selected = await select(request);
  request.decided();
  if (!request.asked) {
    signals.push(options.signal);
    await signalTarget(target, `SIG${options.signal}`);
    await waitForEnd(target, options.grace, request.hurry);
  }
  const outside = (rows: readonly ProcessRow[]): readonly ProcessRow[] =>
    rows.filter(({ pid, group }) =>
      pid !== target.pid && (target.group === undefined || group !== target.group)
    );
  let survivors = await alive(outside(selected));
  if (survivors.length > 0) {
    if (!signals.includes("TERM")) signals.push("TERM");
    for (const { pid } of survivors) signal(pid, "SIGTERM");
    survivors = await waitForAll(survivors, STRAGGLER_SECONDS);
  }
  for (let round = 0; round < ROUNDS; round++) {
    // Whoever was born meanwhile belongs to those that are ended.
    const known = [...await alive(selected), ...await select(request)];
    const rest = known.filter((row, index) =>
      known.findIndex(({ pid }) => pid === row.pid) === index
    );
    if (rest.length === 0) break;
    if (!signals.includes("KILL")) signals.push("KILL");
    if (target.group !== undefined && rest.some(({ group }) => group === target.group)) {
      signal(-target.group, "SIGKILL");
    }
    for (const { pid } of rest) {
      if (pid !== target.pid || await target.look() === "here") signal(pid, "SIGKILL");
    }
    await pause(round === 0 ? STEP_MS : ROUND_MS);
  }
  const killed = await waitForEnd(target, KILL_SECONDS, new Promise<void>(() => {}));
  return { signals, killed, leftRunning: await leftRunning(request) };
}

/** Processes of the run that go on. */
export async function leftRunning(
  { target, mark, uid }: Pick<EndRequest, "target" | "mark" | "uid">,
): Promise<number> {
  const table = await processTable();
  const marked = mark === undefined ? new Set<number>() : await markedPids(mark, uid);
  const own = ancestors(table, Deno.pid);
  return table.filter(({ pid, group, ended }) =>
    !ended && !own.has(pid) && pid !== target.pid &&
    ((target.group !== undefined && group === target.group) || marked.has(pid))
  ).length;
}

async function select({ target, options, mark, uid, spared }: EndRequest): Promise<
  readonly ProcessRow[]
> {
  const table = await processTable();
  const marked = options.sweep === "marked" && mark !== undefined
    ? await markedPids(mark, uid)
    : new Set<number>();
  const rows = selectProcesses(table, {
    target: target.pid,
    group: target.group,
    sweep: options.sweep,
    marked,
    spared: new Set([...ancestors(table, Deno.pid), ...spared]),
  });
  const isHere = await target.look() === "here";
  return rows.filter(({ pid }) => isOwn(pid, uid) && (pid !== target.pid || isHere));
}

/** Whether a process belongs to this user; only such a process is ever signalled. */
function isOwn(pid: number, uid: number): boolean {
  try {
    return Deno.lstatSync(`/proc/${pid}`).uid === uid;
  } catch {
    // Without such folders, the system itself refuses signals to others.
    return !hasProc();
  }
}

function hasProc(): boolean {
  try {
    return Deno.lstatSync("/proc/self").isSymlink;
  } catch {
    return false;
  }
}

/** Those of `rows` that still are the very same processes. */
async function alive(rows: readonly ProcessRow[]): Promise<readonly ProcessRow[]> {
  if (rows.length === 0) return [];
  const now = new Map((await processTable()).map((row) => [row.pid, row]));
  return rows.filter(({ pid, start }) => {
    const found = now.get(pid);
    return found !== undefined && found.start === start && !found.ended;
  });
}

async function waitForAll(
  rows: readonly ProcessRow[],
  seconds: number,
): Promise<readonly ProcessRow[]> {
  const end = performance.now() + seconds * 1000;
  let left = rows;
  while (left.length > 0 && performance.now() < end) {
    await pause(STEP_MS);
    left = await alive(left);
  }
  return left;
}

async function signalTarget(target: Target, name: Deno.Signal): Promise<void> {
  if (target.group !== undefined) signal(-target.group, name);
  else if (await target.look() === "here") signal(target.pid, name);
}

/** Waits until the target has ended; `false` when it has not in time. */
async function waitForEnd(
  target: Target,
  seconds: number,
  hurry: Promise<void>,
): Promise<boolean> {
  const end = performance.now() + seconds * 1000;
  let hurried = false;
  void hurry.then(() => hurried = true);
  while (await target.look() === "here") {
    if (hurried || performance.now() >= end) return false;
    await Promise.race([target.ended, pause(STEP_MS)]);
  }
  return true;
}

function signal(pid: number, name: Deno.Signal): void {
  try {
    Deno.kill(pid, name);
  } catch {
    // It has ended meanwhile, or is not ours; what follows looks for itself.
  }
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}
