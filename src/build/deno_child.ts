/**
 * Runs Deno's own tools as child processes and keeps what they print.
 *
 * @module
 */

/** One run of a Deno tool. */
export interface DenoRun {
  /** The Deno executable. */
  readonly deno: string;
  /** Its arguments. */
  readonly args: readonly string[];
  /** Variables on top of the inherited environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** The working directory; the own one when absent. */
  readonly cwd?: string;
  /** Ends the run with SIGTERM. */
  readonly signal: AbortSignal;
  /** Called with each line on stderr as it arrives. */
  readonly onLine?: (line: string) => void;
}

/** How a run ended. */
export interface DenoResult {
  /** Whether it exited with status 0. */
  readonly success: boolean;
  /** What it wrote on stderr, without a stack trace of its own machine code. */
  readonly output: string;
}

/** These keep the tools quiet, plain and able to use the system's certificates. */
const STEADY_ENVIRONMENT: Readonly<Record<string, string>> = {
  DENO_NO_UPDATE_CHECK: "1",
  DENO_TLS_CA_STORE: "system",
  NO_COLOR: "1",
};

/**
 * Runs a Deno tool to its end.
 *
 * Failure of the tool is a result, not an error. Throws the signal's reason when
 * the run was aborted. Needs run permission.
 */
export async function runDeno(run: DenoRun): Promise<DenoResult> {
  run.signal.throwIfAborted();
  const child = new Deno.Command(run.deno, {
    args: [...run.args],
    clearEnv: true,
    env: { ...inheritedEnvironment(), ...STEADY_ENVIRONMENT, ...run.env },
    ...(run.cwd === undefined ? {} : { cwd: run.cwd }),
    stdin: "null",
    stdout: "null",
    stderr: "piped",
    signal: run.signal,
  }).spawn();

  let output = "";
  let unfinished = "";
  for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
    output += text;
    const lines = (unfinished + text).split("\n");
    unfinished = lines.pop() ?? "";
    for (const line of lines) run.onLine?.(line);
  }
  const { success } = await child.status;
  run.signal.throwIfAborted();
  return { success, output: withoutBacktrace(output) };
}

/**
 * The own environment without `DENORT_BIN`, so that only a deliberate one counts
 * (an empty value does not: Deno takes it for a path). npm tells children its
 * registry in lower case, but Deno reads the upper-case name.
 */
function inheritedEnvironment(): Record<string, string> {
  const { DENORT_BIN: _, npm_config_registry: registry, ...rest } = Deno.env.toObject();
  return registry === undefined ? rest : { NPM_CONFIG_REGISTRY: registry, ...rest };
}

function withoutBacktrace(output: string): string {
  return output.split(/\n\s*Stack backtrace:/, 1)[0] ?? output;
}
