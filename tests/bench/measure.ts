/**
 * Measures one run of a program from outside: wall time, peak memory, programs it starts.
 *
 * @module
 */

import { isFile } from "../support/files.ts";
import { environmentOf } from "../support/turnguard.ts";

/** One program as a harness calls it. */
export interface Call {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** What it reads; a stop's payload when absent. */
  readonly input?: string;
  /** Exit status that the run must have; another one would be another thing measured. */
  readonly status: number;
}

/** A measurement, or why this machine does not allow it. */
export type Measured<Value> =
  | { readonly kind: "measured"; readonly value: Value }
  | { readonly kind: "skipped"; readonly because: string };

const PAYLOAD = new TextEncoder().encode('{"stop_hook_active":false,"session_id":"bench"}\n');

/** Milliseconds that `count` runs at once take one with another. */
export async function crowdMs(call: Call, count: number): Promise<number> {
  const start = performance.now();
  const ends = await Promise.all(
    Array.from({ length: count }, () => run(call.command, call)),
  );
  for (const { code } of ends) demandStatus(call, code);
  return (performance.now() - start) / count;
}

/** Milliseconds from the start of the process to its end. */
export async function wallMs(call: Call): Promise<number> {
  const start = performance.now();
  const { code } = await run(call.command, call);
  const elapsed = performance.now() - start;
  demandStatus(call, code);
  return elapsed;
}

const PYTHON_PEAK = "import resource,subprocess,sys;" +
  "s=subprocess.run(sys.argv[2:]).returncode;" +
  "open(sys.argv[1],'w').write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss));" +
  "sys.exit(s)";

/** The largest resident set in MiB, as the kernel counts it. */
export async function peakMiB(call: Call, scratch: string): Promise<Measured<number>> {
  const file = `${scratch}/peak`;
  const wrapper = isFile("/usr/bin/time")
    ? ["/usr/bin/time", "-o", file, "-f", "%M"]
    : isFile("/usr/bin/python3")
    ? ["/usr/bin/python3", "-c", PYTHON_PEAK, file]
    : undefined;
  if (wrapper === undefined) return skipped("neither GNU time nor python3 is here");
  const { code } = await run([...wrapper, ...call.command], call);
  demandStatus(call, code);
  // GNU time writes a line about the exit status before the number.
  const last = (await Deno.readTextFile(file)).trim().split("\n").at(-1) ?? "";
  return { kind: "measured", value: Number(last) / 1024 };
}

/** How many other programs the run starts. */
export async function startedPrograms(call: Call, scratch: string): Promise<Measured<number>> {
  if (!isFile("/usr/bin/strace")) return skipped("strace is not here");
  const file = `${scratch}/trace`;
  const strace = ["/usr/bin/strace", "-f", "-qq", "-e", "trace=execve", "-o", file];
  const { code } = await run([...strace, ...call.command], call);
  if (!isFile(file)) return skipped("strace may not trace here");
  demandStatus(call, code);
  const lines = (await Deno.readTextFile(file)).split("\n");
  const started = lines.filter((line) => /execve\(.*\) = 0$|execve resumed>.*= 0$/.test(line));
  if (started.length === 0) return skipped("strace may not trace here");
  return { kind: "measured", value: started.length - 1 };
}

async function run(
  command: readonly string[],
  { env, input }: Pick<Call, "env" | "input">,
): Promise<Deno.CommandOutput> {
  const [program = "", ...args] = command;
  const child = new Deno.Command(program, {
    args,
    clearEnv: true,
    env: environmentOf(env),
    cwd: "/",
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const bytes = input === undefined ? PAYLOAD : new TextEncoder().encode(input);
  const writer = child.stdin.getWriter();
  const fed = writer.write(bytes).then(() => writer.close()).catch(() => {
    // The empty program ends without reading.
  });
  const output = await child.output();
  await fed;
  return output;
}

function demandStatus({ command, status }: Call, code: number): void {
  if (code !== status) throw new Error(`${command.join(" ")} gave ${code}, not ${status}`);
}

function skipped(because: string): Measured<never> {
  return { kind: "skipped", because };
}
