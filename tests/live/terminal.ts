/**
 * A program in a terminal of its own, for CLIs that behave differently without one.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { join } from "@std/path";
import { parsePid, type Pid } from "../../src/platform/pid.ts";
import { runProgram } from "../support/turnguard.ts";

/** Where the terminal multiplexer is. */
export const TMUX = "/usr/bin/tmux";

/** Milliseconds in which something has to appear. */
const LIMIT_MS = 60_000;

/** A terminal. Bind it with `await using`: its server ends, and with it what still runs in it. */
export interface Terminal extends AsyncDisposable {
  /** The program's own process. */
  readonly pid: Pid;
  /** What is to be seen now. */
  screen(): Promise<string>;
  /** The same, with the escape sequences that give it its colours. */
  colours(): Promise<string>;
  /** Waits until `text` is to be seen. */
  shows(text: string): Promise<void>;
  /** Types `text`, waits until it is to be seen, and confirms it. */
  enter(text: string): Promise<void>;
}

/** Starts `command` in a terminal whose server keeps its socket in `folder`. */
export async function startTerminal(
  folder: string,
  command: readonly string[],
  options: {
    readonly cwd: string;
    readonly env: Readonly<Record<string, string | undefined>>;
    /** Columns and rows; 200 by 50 when absent. */
    readonly size?: readonly [columns: number, rows: number];
  },
): Promise<Terminal> {
  const tmux = async (...args: readonly string[]): Promise<string> => {
    const { status, stdout, stderr } = await runProgram(
      [TMUX, "-S", join(folder, "tmux"), "-f", "/dev/null", ...args],
      { env: { ...options.env, LC_ALL: "C.UTF-8" }, stdin: null },
    );
    assertEquals(status, 0, stderr);
    return stdout;
  };
  const [columns, rows] = options.size ?? [200, 50];
  const size = ["-x", String(columns), "-y", String(rows)];
  await tmux("new-session", "-d", ...size, "-c", options.cwd, "--", ...command);
  const pid = parsePid((await tmux("display-message", "-p", "#{pane_pid}")).trim());
  if (pid === undefined) throw new Error("the terminal names no process");
  const screen = (): Promise<string> => tmux("capture-pane", "-p");
  const shows = async (text: string): Promise<void> => {
    const limit = Date.now() + LIMIT_MS;
    while (!(await screen()).includes(text)) {
      if (Date.now() > limit) throw new Error(`${text} does not show:\n${await screen()}`);
    }
  };
  return {
    pid,
    screen,
    shows,
    colours: () => tmux("capture-pane", "-p", "-e"),
    enter: async (text) => {
      await tmux("send-keys", "-l", text);
      await shows(text);
      await tmux("send-keys", "Enter");
    },
    [Symbol.asyncDispose]: async () => {
      // A server ends by itself when its last program has ended.
      await tmux("kill-server").catch(() => undefined);
    },
  };
}
