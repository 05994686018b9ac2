/** `watchdog -- COMMAND` and `watchdog --pid PID`. */

import { join } from "@std/path";
import {
  activityFolders,
  runFileName,
  sessionFileName,
  sessionHash,
  sha256,
} from "../../activity/activity_paths.ts";
import { ownUid } from "../../activity/own_uid.ts";
import { ProcessChain } from "../../activity/process_chain.ts";
import { putFile, randomHex } from "../../activity/put_file.ts";
import { readSafely } from "../../activity/safe_file.ts";
import { ensureOwnFolder, ensureTemporaryFolder } from "../../activity/safe_folder.ts";
import { ProgressWatch } from "../../activity/watchdog/progress_watch.ts";
import {
  commandTarget,
  forwardSignal,
  runnerSignals,
  startCommand,
} from "../../activity/watchdog/run_command.ts";
import type { RunIdentity } from "../../activity/watchdog/run_record.ts";
import { fileOfProcess, sidecarTarget } from "../../activity/watchdog/sidecar_target.ts";
import { SignalInbox } from "../../activity/watchdog/signal_inbox.ts";
import { summaryLine, summaryObject } from "../../activity/watchdog/summary.ts";
import type { Target } from "../../activity/watchdog/target.ts";
import { keepTerminal } from "../../activity/watchdog/terminal_state.ts";
import { watchTarget } from "../../activity/watchdog/watch_target.ts";
import { watchdogLog } from "../../activity/watchdog/watchdog_log.ts";
import { buildInfo } from "../../build_info.ts";
import { fieldsOf, numberOf, parseJson, textOf } from "../../decide/activity/fields.ts";
import {
  parseWatchdogOptions,
  type WatchdogOptions,
} from "../../decide/watchdog/watchdog_options.ts";
import { writeTo } from "../../platform/output.ts";
import { parsePid } from "../../platform/pid.ts";
import { printable } from "../../platform/printable.ts";
import { type Call, type ExitStatus, flagValue, hasFlag } from "../mode.ts";

/** Status of a watchdog that failed itself. */
const FAILED = 125;

/** Seconds for which a heartbeat counts at least. */
const HEARTBEAT_SECONDS = 90;

/** Runs either form. */
export async function runWatchdog(call: Call): Promise<ExitStatus> {
  const pid = flagValue(call, "pid");
  const pgid = flagValue(call, "pgid");
  const isSidecar = pid !== undefined || pgid !== undefined;
  if (isSidecar === call.rest.length > 0 || (pid !== undefined && pgid !== undefined)) {
    return await refuse("give a command after --, or one of --pid and --pgid");
  }
  const parsed = parseWatchdogOptions({
    flag: (name) => flagValue(call, name),
    has: (name) => hasFlag(call, name),
    variable: (name) => call.environment.get(name),
    mode: isSidecar ? "sidecar" : "runner",
  });
  if (parsed.kind === "usage") return await refuse(parsed.message);
  const uid = ownUid();
  if (uid === undefined) return await refuse("nobody tells whose process this is");
  const say = (line: string): Promise<unknown> =>
    parsed.options.quiet ? Promise.resolve() : writeTo("stderr", `turnguard-watchdog: ${line}\n`);
  for (const name of parsed.ignored) await say(`${name} holds no duration and is ignored`);
  const log = watchdogLog(flagValue(call, "log") ?? call.environment.get("TURNGUARD_WATCHDOG_LOG"));
  if (parsed.shortened) log.write({ kind: "poll-shortened", poll: parsed.options.poll });
  const start: Start = { call, options: parsed.options, uid, say, log };
  return isSidecar
    ? await runSidecar(start, pid ?? pgid ?? "", pgid !== undefined)
    : await runRunner(start);
}

interface Start {
  readonly call: Call;
  readonly options: WatchdogOptions;
  readonly uid: number;
  readonly say: (line: string) => Promise<unknown>;
  readonly log: ReturnType<typeof watchdogLog>;
}

async function runRunner(start: Start): Promise<ExitStatus> {
  const { call, options, uid, log } = start;
  const runId = randomHex(8);
  const folder = usableFolder(call, uid);
  const file = flagValue(call, "activity") ??
    (folder === undefined ? undefined : join(folder, runFileName(runId)));
  if (file?.startsWith("/") !== true) return await refuse("no folder can hold the activity file");
  removeQuietly(`${file}.marker.json`);
  const chain = new ProcessChain(call.environment);
  const own = await chain.link(parsePid(String(Deno.pid)) ?? failNoPid());
  if (own === undefined) return await refuse("this process cannot be looked up");
  const foreground = hasFlag(call, "foreground") ||
    (!hasFlag(call, "no-foreground") && Deno.stdin.isTerminal());
  const progress = new ProgressWatch(options.progress);
  // Before the start: a signal that comes first must not leave the command behind.
  const inbox = new SignalInbox(runnerSignals(foreground));
  using _inbox = inbox;
  const terminal = foreground ? await keepTerminal() : undefined;
  const command = startCommand({
    command: call.rest,
    environment: {
      TURNGUARD_ACTIVITY_FILE: file,
      TURNGUARD_RUN_ID: runId,
      TURNGUARD_WATCHDOG_PID: String(Deno.pid),
      TURNGUARD_WATCHDOG_IDENTITY: own.identity,
    },
    foreground,
    progress: options.progress.output ? progress : undefined,
  });
  if (command.kind === "failed") {
    const name = printable(call.rest[0] ?? "");
    await writeTo("stderr", `turnguard-watchdog: ${name}: ${command.because}\n`);
    return command.status;
  }
  const identity = (await chain.link(command.pid))?.identity;
  const target = commandTarget(command, identity, foreground);
  const run = identityOf(start, { file, runId, target, ownIdentity: own.identity, chain });
  const watched = await watchTarget(run, {
    environment: call.environment,
    uid,
    activityFile: () => Promise.resolve(file),
    progress,
    holdsForPerson: holdsForPerson(options, foreground),
    inbox,
    onSignal: (signal, again) => forwardSignal(command.pid, foreground, signal, again),
    log,
    say: async (line) => void await start.say(line),
    status: () => command.status,
  });
  if (watched.end.reason !== "exited") await terminal?.restore();
  await command.drained;
  return await conclude(start, run, watched, progress);
}

async function runSidecar(start: Start, text: string, isGroup: boolean): Promise<ExitStatus> {
  const { call, options, uid, log } = start;
  const chain = new ProcessChain(call.environment);
  const found = await sidecarTarget(text, isGroup, uid, chain);
  if (found.kind === "refused") return await refuse(`${printable(text)}: ${found.because}`);
  if (hasFlag(call, "detach")) return await detach();
  const { target } = found;
  const named = await namedFile(call, uid);
  const own = await chain.link(parsePid(String(Deno.pid)) ?? failNoPid());
  const find = (): string | undefined => named ?? fileOfProcess(target, call.environment, uid);
  const file = find() ?? await placeholder(call, uid, target);
  if (file === undefined) return await refuse("no folder can hold the heartbeat");
  const other = await watcherOf(file, uid, chain);
  if (other !== undefined && !hasFlag(call, "force")) {
    return await refuse(`pid ${other} watches it already (--force watches all the same)`);
  }
  const progress = new ProgressWatch(options.progress);
  const inbox = new SignalInbox(["SIGTERM", "SIGHUP", "SIGINT"]);
  using _inbox = inbox;
  const run = identityOf(start, { file, runId: null, target, ownIdentity: own?.identity, chain });
  const watched = await watchTarget(run, {
    environment: call.environment,
    uid,
    activityFile: () => Promise.resolve(find()),
    progress,
    holdsForPerson: holdsForPerson(options, found.hasTerminal),
    inbox,
    onSignal: () => "stop watching",
    log,
    say: async (line) => void await start.say(line),
    status: () => Promise.resolve(0),
  });
  return await conclude(start, run, watched, progress);
}

async function conclude(
  { call, say }: Start,
  run: RunIdentity,
  watched: Awaited<ReturnType<typeof watchTarget>>,
  progress: ProgressWatch,
): Promise<ExitStatus> {
  await say(summaryLine(run, watched).replace(/^turnguard-watchdog: /, ""));
  const path = flagValue(call, "summary-json");
  const text = `${JSON.stringify(summaryObject(run, watched, progress.counts))}\n`;
  if (path === "-") await writeTo("stderr", text);
  else if (path !== undefined) {
    try {
      putFile(path, text);
    } catch {
      await say(`the summary could not be written to ${printable(path)}`);
    }
  }
  return watched.end.exitCode ?? FAILED;
}

function identityOf(
  { call, options }: Start,
  parts: {
    readonly file: string;
    readonly runId: string | null;
    readonly target: Target;
    readonly ownIdentity: string | undefined;
    readonly chain: ProcessChain;
  },
): RunIdentity {
  const { file, runId, target, ownIdentity, chain } = parts;
  return {
    file,
    marker: flagValue(call, "marker") ?? `${file}.marker.json`,
    killMarker: flagValue(call, "kill-marker"),
    runId,
    target,
    ownIdentity,
    hostname: chain.marks.hostname,
    options,
    startedAt: Date.now() / 1000,
    version: buildInfo().version,
  };
}

function holdsForPerson({ waiting }: WatchdogOptions, hasTerminal: boolean): boolean {
  return waiting === "hold" || (waiting === "auto" && hasTerminal);
}

function usableFolder(call: Call, uid: number): string | undefined {
  return activityFolders(call.environment, uid).find(({ file, kind }) =>
    kind === "temporary" ? ensureTemporaryFolder(file, uid) : ensureOwnFolder(file, uid)
  )?.file;
}

async function namedFile(call: Call, uid: number): Promise<string | undefined> {
  const named = flagValue(call, "activity") ?? call.environment.get("TURNGUARD_ACTIVITY_FILE");
  if (named?.startsWith("/") === true) return named;
  const session = flagValue(call, "session");
  if (session === undefined) return undefined;
  const name = sessionFileName(await sessionHash(session));
  const files = activityFolders(call.environment, uid).map(({ file }) => join(file, name));
  return files.find((path) => readSafely(path, uid).kind !== "absent") ?? files[0];
}

/** A place for marker and heartbeat of a target that no activity file names yet. */
async function placeholder(call: Call, uid: number, target: Target): Promise<string | undefined> {
  const folder = usableFolder(call, uid);
  const digits = (await sha256(`${target.pid} ${target.identity}`)).slice(0, 16);
  return folder === undefined ? undefined : join(folder, runFileName(digits));
}

/** Pid of a live watchdog whose heartbeat for that file is fresh. */
async function watcherOf(
  file: string,
  uid: number,
  chain: ProcessChain,
): Promise<number | undefined> {
  const content = readSafely(`${file}.watchdog.json`, uid);
  if (content.kind !== "text") return undefined;
  const beat = fieldsOf(parseJson(content.text));
  const age = Date.now() / 1000 - (numberOf(beat["heartbeat_at"]) ?? 0);
  const fresh = Math.max(HEARTBEAT_SECONDS, 3 * (numberOf(beat["poll_s"]) ?? 0));
  const pid = parsePid(String(numberOf(beat["pid"]) ?? ""));
  if (age > fresh || beat["state"] === "done" || pid === undefined) return undefined;
  const link = await chain.link(pid);
  const isIt = link !== undefined && !link.ended && link.identity === textOf(beat["pid_identity"]);
  return isIt ? pid : undefined;
}

/** Starts the same watchdog in a session of its own, and says which process that is. */
async function detach(): Promise<ExitStatus> {
  const args = Deno.args.filter((word) => word !== "--detach");
  const child = new Deno.Command(Deno.execPath(), {
    args,
    stdin: "null",
    stdout: "null",
    stderr: "null",
    detached: true,
  }).spawn();
  child.unref();
  await writeTo("stdout", `${child.pid}\n`);
  return 0;
}

async function refuse(because: string): Promise<ExitStatus> {
  await writeTo("stderr", `turnguard-watchdog: ${because}; nothing was started or ended\n`);
  return FAILED;
}

function removeQuietly(path: string): void {
  try {
    if (!Deno.lstatSync(path).isDirectory) Deno.removeSync(path);
  } catch {
    // There is none.
  }
}

function failNoPid(): never {
  throw new Error("this process has no process id");
}
