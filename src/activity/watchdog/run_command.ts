/** The runner: starts a command, watches it, and outlives it. */

import { parsePid, type Pid } from "../../platform/pid.ts";
import type { ProgressWatch } from "./progress_watch.ts";
import type { ReceivedSignal } from "./signal_inbox.ts";
import type { Target } from "./target.ts";
import type { SignalMeaning } from "./watch_target.ts";

/** A command that was started, or the status that says why not. */
export type StartedCommand =
  | { readonly kind: "failed"; readonly status: 126 | 127; readonly because: string }
  | {
    readonly kind: "started";
    readonly pid: Pid;
    /** Resolves with its own status, 128 plus the number of a signal that ended it. */
    readonly status: Promise<number>;
    /** Resolves when everything that it wrote was passed on. */
    readonly drained: Promise<void>;
  };

/** How a command is started. */
export interface CommandRequest {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Keeps it in the terminal's own session and group. */
  readonly foreground: boolean;
  /** Counts what it writes, which costs it its terminal. */
  readonly progress: ProgressWatch | undefined;
}

/** Starts a command with the streams of this process. */
export function startCommand(request: CommandRequest): StartedCommand {
  const [program = "", ...args] = request.command;
  const output = request.progress === undefined ? "inherit" : "piped";
  let child: Deno.ChildProcess;
  try {
    child = new Deno.Command(program, {
      args,
      env: request.environment,
      stdin: "inherit",
      stdout: output,
      stderr: output,
      detached: !request.foreground,
    }).spawn();
  } catch (error) {
    const isMissing = error instanceof Deno.errors.NotFound;
    return {
      kind: "failed",
      status: isMissing ? 127 : 126,
      because: isMissing ? "not found" : "it cannot be started",
    };
  }
  const pid = parsePid(String(child.pid));
  if (pid === undefined) return { kind: "failed", status: 126, because: "it has no process id" };
  const { progress } = request;
  const drained = progress === undefined ? Promise.resolve() : Promise.all([
    passOn(child.stdout, Deno.stdout, progress),
    passOn(child.stderr, Deno.stderr, progress),
  ]).then(() => {});
  return { kind: "started", pid, status: child.status.then(({ code }) => code), drained };
}

/** Byte for byte; a reader that has gone does not stop the command. */
async function passOn(
  from: ReadableStream<Uint8Array>,
  to: { writeSync(bytes: Uint8Array): number },
  progress: ProgressWatch,
): Promise<void> {
  let isOpen = true;
  for await (const part of from) {
    progress.output();
    for (let offset = 0; isOpen && offset < part.length;) {
      try {
        offset += to.writeSync(part.subarray(offset));
      } catch {
        isOpen = false;
      }
    }
  }
}

/** The command as a target. */
export function commandTarget(
  { pid, status }: StartedCommand & { readonly kind: "started" },
  identity: string | undefined,
  foreground: boolean,
): Target {
  let over = false;
  const ended = status.then(() => {
    over = true;
  });
  return {
    mode: "runner",
    pid,
    group: foreground ? undefined : pid,
    identity,
    ended,
    // Until its status was taken, nobody else can have its pid.
    look: () => Promise.resolve(over ? "gone" : "here"),
  };
}

/** Signals that a runner listens to. */
export function runnerSignals(foreground: boolean): readonly ReceivedSignal[] {
  const always = [
    "SIGTERM",
    "SIGHUP",
    "SIGINT",
    "SIGQUIT",
    "SIGUSR1",
    "SIGUSR2",
    "SIGCONT",
  ] as const;
  return foreground ? always : [...always, "SIGWINCH", "SIGTSTP"];
}

/** Hands a signal on as the command's place in the terminal asks, and says what it means. */
export function forwardSignal(
  pid: Pid,
  foreground: boolean,
  signal: ReceivedSignal,
  again: boolean,
): SignalMeaning {
  const to = foreground ? pid : -pid;
  switch (signal) {
    case "SIGTERM":
    case "SIGHUP":
      if (again) return "kill at once";
      send(to, signal);
      return "handed on";
    case "SIGINT":
    case "SIGQUIT":
      // A terminal has sent it to everybody in the foreground already.
      if (foreground) return "nothing";
      if (again) return "kill at once";
      send(to, signal);
      return "handed on";
    case "SIGTSTP":
      send(to, signal);
      Deno.kill(Deno.pid, "SIGSTOP");
      return "nothing";
    default:
      send(to, signal);
      return "nothing";
  }
}

function send(pid: number, signal: Deno.Signal): void {
  try {
    Deno.kill(pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}
