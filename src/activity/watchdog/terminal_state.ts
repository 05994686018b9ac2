/** The state of the terminal, kept for when a full-screen program is ended. */

const STTY = ["/bin/stty", "/usr/bin/stty"];

/**
 * What full-screen programs switch on and a killed one leaves so: another screen, a hidden cursor,
 * reports of the mouse, bracketed pastes, another keypad, colours.
 */
const RESET =
  "\x1b[?1049l\x1b[?25h\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?1l\x1b>" +
  "\x1b[0m";

/** Puts the terminal back. */
export interface TerminalState {
  readonly restore: () => Promise<void>;
}

/** Keeps the state of the terminal on standard input; `undefined` when there is none. */
export async function keepTerminal(): Promise<TerminalState | undefined> {
  if (!Deno.stdin.isTerminal()) return undefined;
  const kept = await stty(["-g"]);
  if (kept === undefined) return undefined;
  return {
    restore: async () => {
      await stty([kept.trim()]);
      const to = [Deno.stdout, Deno.stderr].find((stream) => stream.isTerminal());
      to?.writeSync(new TextEncoder().encode(RESET));
    },
  };
}

async function stty(args: readonly string[]): Promise<string | undefined> {
  for (const path of STTY) {
    try {
      const { success, stdout } = await new Deno.Command(path, {
        args: [...args],
        clearEnv: true,
        env: { LC_ALL: "C" },
        cwd: "/",
        stdin: "inherit",
        stdout: "piped",
        stderr: "null",
      }).output();
      return success ? new TextDecoder().decode(stdout) : undefined;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) return undefined;
    }
  }
  return undefined;
}
