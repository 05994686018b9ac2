/** `watchdog list` and `watchdog status`: what sessions do, and when they would be ended. */

import { activityFolders, sessionFileName, sessionHash } from "../../activity/activity_paths.ts";
import { findFleet, type Fleet, type FleetEntry, fleetEntry } from "../../activity/fleet.ts";
import { ownUid } from "../../activity/own_uid.ts";
import { ProcessChain } from "../../activity/process_chain.ts";
import { isPrunable, pruneSession } from "../../activity/prune_activity.ts";
import { fileOfProcess } from "../../activity/watchdog/sidecar_target.ts";
import { expiryLimits } from "../../decide/activity/limits.ts";
import {
  ageText,
  type SessionStatus,
  sessionStatus,
} from "../../decide/watchdog/session_status.ts";
import { writeTo } from "../../platform/output.ts";
import { parsePid } from "../../platform/pid.ts";
import { jsonText, printableWithin } from "../../platform/printable.ts";
import { firstStopSignal } from "../../platform/stop_signal.ts";
import { type Call, EXIT, type ExitStatus, flagValue, hasFlag } from "../mode.ts";

/** Seconds after which what is over is shown only when everything is asked for. */
const RECENT_SECONDS = 24 * 3_600;

/** Milliseconds between two pictures of the live view. */
const WATCH_MS = 1_000;

/** Idle seconds that `--check` allows a session without a watchdog. */
const IDLE_SECONDS = 600;

type Session = FleetEntry & { readonly kind: "session" };

/** `watchdog list`. */
export async function listSessions(call: Call): Promise<ExitStatus> {
  const uid = ownUid();
  if (uid === undefined) return await fail("nobody tells whose process this is");
  if (hasFlag(call, "prune")) return await prune(call, uid);
  if (!hasFlag(call, "watch")) {
    await writeTo("stdout", picture(call, await fleet(call, uid), Infinity));
    return EXIT.ok;
  }
  if (!Deno.stdout.isTerminal()) return await fail("--watch wants a terminal");
  return await liveView(call, uid);
}

async function liveView(call: Call, uid: number): Promise<ExitStatus> {
  let stopped = false;
  const stop = firstStopSignal().then(() => {
    stopped = true;
  });
  // The other screen, so that what stood there before comes back.
  await writeTo("stdout", "\x1b[?1049h\x1b[?25l");
  try {
    while (!stopped) {
      const rows = Deno.consoleSize().rows;
      const text = picture(call, await fleet(call, uid), rows - 2);
      const stamp = `${new Date().toTimeString().slice(0, 8)}  Ctrl-C ends the view`;
      await writeTo("stdout", `\x1b[H\x1b[J${text}\n${stamp}`);
      await Promise.race([stop, new Promise((resolve) => setTimeout(resolve, WATCH_MS))]);
    }
  } finally {
    await writeTo("stdout", "\x1b[?25h\x1b[?1049l");
  }
  return EXIT.ok;
}

async function fleet(call: Call, uid: number): Promise<Fleet> {
  return await findFleet({
    environment: call.environment,
    uid,
    limits: expiryLimits(call.environment),
    chain: new ProcessChain(call.environment),
    folder: flagValue(call, "dir"),
  });
}

function picture(call: Call, { entries, skipped }: Fleet, rows: number): string {
  const now = Date.now() / 1000;
  const shown = entries.filter((entry) => hasFlag(call, "all") || isRecent(entry, now))
    .toSorted((one, other) => lastOf(other) - lastOf(one));
  if (hasFlag(call, "json")) {
    return `${jsonText(shown.map((entry) => jsonOf(entry, now)), 2)}\n`;
  }
  const lines = ordered(shown).slice(0, Math.max(1, rows - 1))
    .map(({ entry, nested }) => rowOf(entry, now, nested));
  const head = columns([
    "SESSION",
    "HOST",
    "PID",
    "STATE",
    "CALLS",
    "AGENTS",
    "LAST",
    "KILL-IN",
    "CWD",
  ]);
  const foot = skipped > 0 ? `${skipped} file(s) not believed and left out\n` : "";
  return `${[head, ...lines].join("\n")}\n${foot}`;
}

/** Nested sessions stand below the run that they belong to. */
function ordered(
  entries: readonly FleetEntry[],
): readonly { readonly entry: FleetEntry; readonly nested: boolean }[] {
  const parents = new Map<string, FleetEntry>();
  for (const entry of entries) {
    if (entry.kind !== "session") continue;
    for (const key of entry.state.nested.keys()) parents.set(key, entry);
  }
  const parentOf = (entry: FleetEntry): FleetEntry | undefined =>
    entry.kind === "session" ? parents.get(entry.state.session_key) : undefined;
  const roots = entries.filter((entry) => {
    const parent = parentOf(entry);
    return parent === undefined || parent === entry;
  });
  return roots.flatMap((entry) => [
    { entry, nested: false },
    ...entries.filter((other) => other !== entry && parentOf(other) === entry)
      .map((other) => ({ entry: other, nested: true })),
  ]);
}

function isRecent(entry: FleetEntry, now: number): boolean {
  if (entry.kind !== "session") return true;
  return statusOf(entry, now).kind !== "over" || now - lastOf(entry) < RECENT_SECONDS;
}

function lastOf(entry: FleetEntry): number {
  return entry.kind === "session" ? entry.state.updated_at : 0;
}

function statusOf(entry: Session, now: number): SessionStatus {
  const { state, life, heartbeat } = entry;
  const lostWatchdog = heartbeat !== undefined && heartbeat.state !== "done" &&
    !heartbeat.isLive;
  const status = sessionStatus({ state, now, life, lostWatchdog });
  // The watchdog judges by the home, which this list does not look at.
  const isParked = heartbeat?.isLive === true && heartbeat.holds.includes("supervised") &&
    status.kind === "idle";
  return isParked ? { ...status, word: "waiting:wake", kind: "busy" } : status;
}

function rowOf(entry: FleetEntry, now: number, nested: boolean): string {
  const indent = nested ? "  " : "";
  if (entry.kind === "unreadable") {
    return columns([`${indent}${keyOf(entry.file)}`, "-", "-", "unreadable"]);
  }
  const { state, heartbeat } = entry;
  const status = statusOf(entry, now);
  const agents = status.lost > 0 ? `0 (${status.lost})` : String(status.agents);
  const killIn = heartbeat?.isLive !== true
    ? "-"
    : heartbeat.killIn === undefined
    ? heartbeat.holds.join("+") || "held"
    : ageText(heartbeat.killIn);
  return columns([
    `${indent}${(state.session_key || keyOf(entry.file)).slice(0, 8)}`,
    state.host,
    String(state.process?.pid ?? "-"),
    status.word,
    String(state.tool_call_count),
    agents,
    state.progress_at === null ? "-" : ageText(now - state.progress_at),
    killIn,
    state.cwd ?? "-",
  ]);
}

function keyOf(file: string): string {
  return /-([0-9a-f]{16})-activity\.json$/.exec(file)?.[1]?.slice(0, 8) ?? "other";
}

/** Widths that fit eighty columns, the last column taking what is left. */
const WIDTHS = [10, 9, 8, 20, 6, 7, 5, 9, 6];

function columns(cells: readonly string[]): string {
  const shown = cells.map((cell, index) => {
    const width = WIDTHS[index] ?? 10;
    const isPath = index === WIDTHS.length - 1;
    const fits = isPath && cell.length >= width ? `…${cell.slice(2 - width)}` : cell;
    return printableWithin(fits, width - 1).padEnd(width);
  });
  return shown.join("").trimEnd();
}

function jsonOf(entry: FleetEntry, now: number): Readonly<Record<string, unknown>> {
  if (entry.kind === "unreadable") {
    return { file: entry.file, state: "unreadable", because: entry.because };
  }
  const { state, heartbeat, life } = entry;
  const status = statusOf(entry, now);
  return {
    file: entry.file,
    session_id: state.session_id,
    session_key: state.session_key,
    run_id: state.run_id,
    host: state.host,
    pid: state.process?.pid ?? null,
    process: life,
    state: status.word,
    turn: state.turn,
    tool_call_count: state.tool_call_count,
    subagents_in_flight: status.agents,
    subagents_lost: status.lost,
    tools_open: [...state.tools.values()].map(({ tool }) => tool),
    waiting: Object.fromEntries(state.waiting),
    progress_at: state.progress_at,
    updated_at: state.updated_at,
    ended_at: state.ended_at,
    cwd: state.cwd,
    nested: [...state.nested.keys()],
    watchdog: heartbeat === undefined ? null : {
      pid: heartbeat.pid,
      live: heartbeat.isLive,
      state: heartbeat.state,
      kill_in_s: heartbeat.killIn ?? null,
      holds: heartbeat.holds,
    },
  };
}

async function prune(call: Call, uid: number): Promise<ExitStatus> {
  const { entries } = await fleet(call, uid);
  const now = Date.now() / 1000;
  const folders = activityFolders(call.environment, uid).map(({ file }) => file);
  let removed = 0;
  for (const entry of entries) {
    if (entry.kind !== "session" || !isPrunable(entry, now)) continue;
    // A file that somebody named is theirs to remove.
    if (!folders.some((folder) => entry.file.startsWith(`${folder}/`))) continue;
    if (pruneSession(entry.file, entry.state.session_key, uid)) removed += 1;
  }
  await writeTo("stdout", `${removed} session(s) removed\n`);
  return EXIT.ok;
}

/** `watchdog status`. */
export async function showStatus(call: Call): Promise<ExitStatus> {
  const uid = ownUid();
  if (uid === undefined) return await fail("nobody tells whose process this is");
  const chain = new ProcessChain(call.environment);
  const file = await fileOf(call, uid, chain);
  if (file === undefined) {
    return await fail("say which: --activity FILE, --session ID, --run ID or --pid PID");
  }
  const entry = await fleetEntry(file, {
    environment: call.environment,
    uid,
    limits: expiryLimits(call.environment),
    chain,
  });
  const now = Date.now() / 1000;
  if (entry === undefined) {
    if (hasFlag(call, "json")) await writeTo("stdout", "null\n");
    else await writeTo("stderr", "turnguard watchdog status: nothing is recorded of it\n");
    return EXIT.undetermined;
  }
  const text = hasFlag(call, "json")
    ? `${jsonText(jsonOf(entry, now), 2)}\n`
    : `${rowOf(entry, now, false)}\n`;
  await writeTo("stdout", text);
  if (!hasFlag(call, "check")) return EXIT.ok;
  if (entry.kind === "unreadable") return EXIT.undetermined;
  const status = statusOf(entry, now);
  if (status.kind === "over") return 2;
  const limit = entry.heartbeat?.idleTimeout ?? IDLE_SECONDS;
  const idle = now - (entry.state.progress_at ?? entry.state.updated_at);
  return status.kind === "idle" && idle > limit ? EXIT.failure : EXIT.ok;
}

async function fileOf(
  call: Call,
  uid: number,
  chain: ProcessChain,
): Promise<string | undefined> {
  const named = flagValue(call, "activity");
  if (named !== undefined) return named;
  const session = flagValue(call, "session");
  const run = flagValue(call, "run");
  const pid = parsePid(flagValue(call, "pid") ?? "");
  if (pid !== undefined) {
    const link = await chain.link(pid);
    const target = { pid, identity: link?.identity };
    return fileOfProcess(target, call.environment, uid) ?? "/nonexistent";
  }
  const name = session !== undefined
    ? sessionFileName(await sessionHash(session))
    : run !== undefined && /^[0-9a-f]{16}$/.test(run)
    ? `turnguard-run-${run}-activity.json`
    : undefined;
  if (name === undefined) return undefined;
  const files = activityFolders(call.environment, uid).map(({ file }) => `${file}/${name}`);
  return files.find((path) => isThere(path)) ?? files[0];
}

function isThere(path: string): boolean {
  try {
    return Deno.lstatSync(path).isFile;
  } catch {
    return false;
  }
}

async function fail(because: string): Promise<ExitStatus> {
  await writeTo("stderr", `turnguard watchdog: ${because}; nothing was changed\n`);
  return EXIT.usage;
}
