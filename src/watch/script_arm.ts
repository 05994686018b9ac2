/** The arm that a home brings itself: its own script, run as a child of the hook. */

import { ArmOutput, collectLines } from "./arm_output.ts";
import { homeScript } from "./home_script.ts";

/** Milliseconds that a stopped arm has to end, unless its caller knows better. */
const STOP_LIMIT_MS = 1_000;

/**
 * Milliseconds that the output of an arm is read on after it has ended: something that it left behind
 * may hold the pipe open for ever.
 */
const DRAIN_LIMIT_MS = 250;

/** The home's own arm script, or `undefined` when the arm is to run in this process. */
export function armScript(root: string): string | undefined {
  return homeScript(root, "fm-watch-arm.sh");
}

/**
 * Runs the script in the foreground, in this process group, until it ends or `stop` resolves.
 *
 * Standard output and standard error are taken together; the exit status is not used. A script that
 * cannot be started leaves a line of evidence. With `killAfterMs` an arm that does not end within that
 * time is killed; without it, it is left to itself after a second.
 */
export async function runArmScript(
  path: string,
  environment: Readonly<Record<string, string>>,
  stop: Promise<void>,
  killAfterMs?: number,
): Promise<ArmOutput> {
  const output = new ArmOutput();
  let child: Deno.ChildProcess;
  try {
    child = new Deno.Command(path, {
      env: { ...environment },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  } catch {
    output.add("watcher: FAILED - the arm could not be started");
    return output;
  }
  const read = Promise.all([
    collectLines(child.stdout, output),
    collectLines(child.stderr, output),
  ]).catch(() => undefined);
  const ended = child.status;
  await Promise.race([ended, stop.then(() => stopChild(child, ended, killAfterMs))]);
  await Promise.race([read, delay(DRAIN_LIMIT_MS)]);
  return output;
}

async function stopChild(
  child: Deno.ChildProcess,
  ended: Promise<unknown>,
  killAfterMs: number | undefined,
): Promise<void> {
  signalChild(child, "SIGTERM");
  await Promise.race([ended, delay(killAfterMs ?? STOP_LIMIT_MS)]);
  if (killAfterMs === undefined) return;
  signalChild(child, "SIGKILL");
  await ended;
}

function signalChild(child: Deno.ChildProcess, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    child.kill(signal);
  } catch {
    // It has ended.
  }
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
