/** The command of a process-event source, its output collected in a file as it comes. */

/** How the command ended. */
export type CommandEnd =
  | { readonly kind: "stopped" }
  | {
    readonly kind: "ended";
    /** Its exit status; 128 plus the number for a signal, 127 or 126 when it cannot be started. */
    readonly status: number;
    /** Bytes that were kept. */
    readonly bytes: number;
    readonly truncated: boolean;
  };

/** Milliseconds that a stopped command has before it is killed. */
const STOP_LIMIT_MS = 2_000;

/** Milliseconds for what is left in the pipe, which something else may hold open for ever. */
const DRAIN_LIMIT_MS = 1_000;

/**
 * Runs `argv` without a shell, in this process group, until it ends; there is no deadline.
 *
 * What is beyond the limit is read and dropped: a source must not be held up by its own output.
 */
export async function runSource(
  argv: readonly [string, ...string[]],
  staging: string,
  limitBytes: number,
  stop: Promise<unknown>,
): Promise<CommandEnd> {
  const file = Deno.openSync(staging, { write: true, createNew: true, mode: 0o600 });
  using _file = file;
  const [command, ...args] = argv;
  let child: Deno.ChildProcess;
  try {
    child = new Deno.Command(command, { args, stdin: "null", stdout: "piped", stderr: "null" })
      .spawn();
  } catch (error) {
    const status = error instanceof Deno.errors.NotFound ? 127 : 126;
    return { kind: "ended", status, bytes: 0, truncated: false };
  }
  const reader = child.stdout.getReader();
  const written = { bytes: 0, truncated: false };
  const read = readInto(reader, file, limitBytes, written).catch(() => {});
  const ended = child.status.then(({ code }) => code);
  const seen = await Promise.race([ended, stop.then(() => undefined)]);
  if (seen === undefined) await stopChild(child, ended);
  await within(read, DRAIN_LIMIT_MS);
  await reader.cancel().catch(() => {});
  return seen === undefined ? { kind: "stopped" } : { kind: "ended", status: seen, ...written };
}

async function readInto(
  reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>,
  file: Deno.FsFile,
  limitBytes: number,
  written: { bytes: number; truncated: boolean },
): Promise<void> {
  while (true) {
    const { done, value } = await reader.read();
    if (done) return;
    const wanted = written.truncated ? 0 : limitBytes - written.bytes;
    const kept = writeAll(file, value.subarray(0, wanted));
    written.bytes += kept;
    if (kept < value.length) written.truncated = true;
  }
}

/** Number of bytes that were written; fewer than there are when the disk takes no more. */
function writeAll(file: Deno.FsFile, bytes: Uint8Array): number {
  let offset = 0;
  try {
    while (offset < bytes.length) offset += file.writeSync(bytes.subarray(offset));
  } catch {
    // What is there counts, and the result says that it was cut.
  }
  return offset;
}

async function stopChild(child: Deno.ChildProcess, ended: Promise<unknown>): Promise<void> {
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    try {
      child.kill(signal);
    } catch {
      // Ended in this very moment.
    }
    await within(ended, STOP_LIMIT_MS);
  }
}

async function within(what: Promise<unknown>, limitMs: number): Promise<void> {
  let timer: number | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  try {
    await Promise.race([what, limit]);
  } finally {
    clearTimeout(timer);
  }
}
