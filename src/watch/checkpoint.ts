/** One watcher with a deadline, for a session that can only wait in the foreground. */

import { wakeKind } from "../decide/wake_line.ts";
import type { Home } from "../observe/home.ts";
import type { Environment } from "../platform/environment.ts";
import type { WriteOutcome } from "../platform/output.ts";
import { runGroup } from "../platform/process_group.ts";
import type { Processes } from "../platform/processes.ts";
import { homeScript } from "./home_script.ts";
import { runWatcher } from "./watcher.ts";
import { endReport, startReport } from "./watcher_report.ts";

/** What a checkpoint needs. */
export interface CheckpointSetup {
  readonly home: Home;
  readonly environment: Environment;
  readonly look: () => Processes;
  readonly limitMs: number;
  /** Resolves when the checkpoint is to end early. */
  readonly stop: Promise<void>;
  /** Tells a wake; nothing else is printed before the end. */
  readonly print: (text: string) => Promise<WriteOutcome>;
}

/** How it came out. */
export interface CheckpointEnd {
  readonly kind: "wake" | "already-running" | "deadline" | "stopped" | "other";
  /** What remains to be printed. */
  readonly stdout: string;
  readonly stderr: string;
  /** The watcher's exit status. */
  readonly status: number;
}

/** Watches until there is something to tell, or until the time is over. */
export async function runCheckpoint(setup: CheckpointSetup): Promise<CheckpointEnd> {
  const script = homeScript(setup.home.root, "fm-watch.sh");
  return script === undefined ? await watchHere(setup) : await watchByScript(setup, script);
}

/** The watcher in this very process. Its way out lets the lock go. */
async function watchHere(setup: CheckpointSetup): Promise<CheckpointEnd> {
  const { home, environment, look, print } = setup;
  let over: "deadline" | "stopped" | undefined;
  let timer: number | undefined;
  const deadline = new Promise<"deadline">((resolve) => {
    timer = setTimeout(() => resolve("deadline"), setup.limitMs);
  });
  const stop = Promise.race([deadline, setup.stop.then(() => "stopped" as const)])
    .then((why) => void (over = why));
  let untold = "";
  try {
    const end = await runWatcher({
      home,
      environment,
      look,
      stop,
      started: (start) => void (untold += startReport(start)),
      tell: async (reason) => {
        const told = await print(`${untold}${reason}\n`);
        if (told === "written") untold = "";
        return told;
      },
    });
    const report = endReport(end);
    const said = { ...report, stdout: untold + report.stdout };
    if (end.kind === "wake") return { ...said, kind: "wake" };
    if (end.kind === "stopped") return { ...said, kind: over ?? "stopped" };
    return { ...said, kind: end.kind === "already-running" ? "already-running" : "other" };
  } finally {
    clearTimeout(timer);
  }
}

/** Bytes of each stream that are kept: a check's output is the longest thing that is ever said. */
const STREAM_LIMIT_BYTES = 1024 * 1024;

/** A watcher's way out waits for locks and for checks, some seconds at most. */
const END_LIMITS = { termMs: 5_000, killMs: 1_000 };

/** The home's own watcher as a group of its own. */
async function watchByScript(setup: CheckpointSetup, path: string): Promise<CheckpointEnd> {
  const end = await runGroup({ path, args: [] }, {
    deadlineMs: setup.limitMs,
    outputLimitBytes: STREAM_LIMIT_BYTES,
    errorLimitBytes: STREAM_LIMIT_BYTES,
    end: END_LIMITS,
    tick: () => {},
    stop: setup.stop,
  });
  if (end.kind === "not-started") {
    const stderr = `watcher: ${path} could not be started: ${end.because}\n`;
    return { kind: "other", stdout: "", stderr, status: 1 };
  }
  const decoder = new TextDecoder();
  const stdout = decoder.decode(end.output);
  const stderr = decoder.decode(end.errors);
  const said = { stdout, stderr, status: end.status ?? 1 };
  if (stdout.split("\n").some((line) => wakeKind(line) !== undefined)) {
    return { ...said, kind: "wake" };
  }
  if (end.kind !== "ended") {
    return { ...said, kind: end.kind === "stopped" ? "stopped" : "deadline" };
  }
  const running = `${stdout}\n${stderr}`.includes("watcher: already running");
  return { ...said, kind: running ? "already-running" : "other" };
}
