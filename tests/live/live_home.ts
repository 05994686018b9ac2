/**
 * A home for live sessions, made as a person makes one, and what turnguard leaves in it.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { join } from "@std/path";
import { textOf } from "../support/files.ts";
import { runProgram, runTurnguard } from "../support/turnguard.ts";

/** A home in a temporary folder. Bind it with `await using`: its processes end and its folder goes. */
export interface LiveHome extends AsyncDisposable {
  /** The temporary folder around it; its folder `user` is the home directory of the sessions. */
  readonly folder: string;
  readonly root: string;
}

/** Makes a home, named so that a careless command line would take it apart, with a task in flight. */
export async function liveHome(
  harness: string,
  prepare: (root: string) => void = () => {},
  name = `it's "my" $home é`,
): Promise<LiveHome> {
  const folder = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "turnguard-test-" }));
  const root = join(folder, name);
  const home = {
    folder,
    root,
    [Symbol.asyncDispose]: async () => {
      for (const pid of await guardProcesses(root)) end(pid);
      await Deno.remove(folder, { recursive: true });
    },
  };
  try {
    Deno.mkdirSync(join(folder, "user"));
    await turnguard("init", root);
    prepare(root);
    await turnguard("task", "add", TASK, "--root", root);
    await turnguard("install", harness, "--root", root);
  } catch (error) {
    await home[Symbol.asyncDispose]();
    throw error;
  }
  return home;
}

/** The task that is in flight in such a home. */
export const TASK = "live";

/** Runs a command that has to succeed. */
export async function turnguard(...words: readonly string[]): Promise<void> {
  const { status, stderr } = await runTurnguard(words);
  assertEquals(status, 0, stderr);
}

/** The processes of turnguard that name `root` on their command line. */
export async function guardProcesses(root: string): Promise<readonly number[]> {
  const { stdout } = await runProgram(["/bin/ps", "-axww", "-o", "pid=", "-o", "args="], {
    env: { LC_ALL: "C.UTF-8" },
  });
  return stdout.split("\n")
    .filter((line) => line.includes(`--root ${root}`))
    .map((line) => Number.parseInt(line, 10));
}

/** The verdicts of one mode so far, oldest first, each with its code. */
export function verdicts({ root }: LiveHome, mode: string): readonly string[] {
  return journal(root).filter((record) => record.mode === mode)
    .map((record) => `${record.verdict} ${record.code}`);
}

interface JournalRecord {
  readonly mode: string;
  readonly verdict: string;
  readonly code: string;
}

function journal(root: string): readonly JournalRecord[] {
  return textOf(join(root, "state", ".turnguard-journal.jsonl")).split("\n").flatMap((line) => {
    if (line === "") return [];
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? [value] : [];
  });
}

function isRecord(value: unknown): value is JournalRecord {
  return typeof value === "object" && value !== null && "mode" in value && "verdict" in value &&
    "code" in value;
}

function end(pid: number): void {
  try {
    Deno.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
