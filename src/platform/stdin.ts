/** Standard input of a hook, read within bounds of size, silence and patience. */

/** What arrived on standard input. */
export type StandardInput =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "none"; readonly because: "terminal" | "not readable" }
  | { readonly kind: "unusable"; readonly because: "too large" | "silent before its end" };

/** Bounds of one reading. */
export interface InputLimits {
  /** Bytes that are kept; a longer input is drained and dropped. */
  readonly maximumBytes: number;
  /** Milliseconds without a byte after which an unfinished input is given up. */
  readonly silenceMs: number;
  /** Milliseconds without a byte after which a complete value is taken without its end of file. */
  readonly settleMs: number;
}

/** The bounds that hooks use. */
export const HOOK_INPUT_LIMITS: InputLimits = {
  maximumBytes: 64 * 1024 * 1024,
  silenceMs: 2_000,
  settleMs: 100,
};

/** Milliseconds between tries on a descriptor that somebody made non-blocking. */
const RETRY_MS = 2;

/**
 * Reads standard input to its end.
 *
 * Some hosts never close the pipe. Then what has arrived is taken once it is complete by
 * `isComplete` and nothing followed for `settleMs`; an incomplete input is given up after
 * `silenceMs`. An input above the limit is still read to its end, so that the writer never meets a
 * broken pipe. A terminal is never waited for.
 */
export async function readStandardInput(
  isComplete: (bytes: Uint8Array) => boolean,
  limits: InputLimits = HOOK_INPUT_LIMITS,
): Promise<StandardInput> {
  if (Deno.stdin.isTerminal()) return { kind: "none", because: "terminal" };
  const chunks = new Chunks(limits.maximumBytes);
  let pending: Promise<Chunk> | undefined;
  let quietMs = 0;
  while (true) {
    pending ??= readChunk();
    const waitMs = Math.min(limits.settleMs, limits.silenceMs - quietMs);
    const chunk = await orAfter(pending, waitMs);
    if (chunk === undefined) {
      quietMs += waitMs;
      if (!chunks.overflowed && isComplete(chunks.bytes())) break;
      if (quietMs >= limits.silenceMs) {
        return { kind: "unusable", because: "silent before its end" };
      }
      continue;
    }
    pending = undefined;
    quietMs = 0;
    if (chunk.kind === "end") break;
    if (chunk.kind === "failed") return { kind: "none", because: "not readable" };
    chunks.add(chunk.bytes);
  }
  if (chunks.overflowed) return { kind: "unusable", because: "too large" };
  return { kind: "bytes", bytes: chunks.bytes() };
}

type Chunk =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "end" }
  | { readonly kind: "failed" };

async function readChunk(): Promise<Chunk> {
  const buffer = new Uint8Array(64 * 1024);
  while (true) {
    try {
      const count = await Deno.stdin.read(buffer);
      return count === null ? { kind: "end" } : { kind: "bytes", bytes: buffer.subarray(0, count) };
    } catch (error) {
      if (!(error instanceof Deno.errors.WouldBlock)) return { kind: "failed" };
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/** The value of `promise`, or `undefined` when it takes longer than `waitMs`. */
async function orAfter<T>(promise: Promise<T>, waitMs: number): Promise<T | undefined> {
  let timer: number | undefined;
  const limit = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), waitMs);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** Received bytes, joined at most once per look. */
class Chunks {
  readonly #maximumBytes: number;
  #parts: Uint8Array[] = [];
  #length = 0;

  constructor(maximumBytes: number) {
    this.#maximumBytes = maximumBytes;
  }

  get overflowed(): boolean {
    return this.#length > this.#maximumBytes;
  }

  add(part: Uint8Array): void {
    this.#length += part.length;
    if (this.overflowed) this.#parts = [];
    else this.#parts.push(part);
  }

  bytes(): Uint8Array {
    if (this.#parts.length === 1) return this.#parts[0] ?? new Uint8Array();
    const whole = new Uint8Array(this.overflowed ? 0 : this.#length);
    let offset = 0;
    for (const part of this.#parts) {
      whole.set(part, offset);
      offset += part.length;
    }
    this.#parts = [whole];
    return whole;
  }
}
