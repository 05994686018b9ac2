/**
 * Gets a compile runtime the way Deno itself does: its cache, else its download.
 *
 * @module
 */

import { join } from "@std/path";
import { runDeno } from "./deno_child.ts";

/**
 * How long the server may take to answer at all, in milliseconds. Deno waits for
 * minutes where packets vanish without an answer, which is common behind
 * company firewalls; a server that answers may then take its time to send.
 */
const ANSWER_MS = 5_000;

/** The result of {@link compileWithOwnRuntime}. */
export type VendorResult =
  | {
    readonly kind: "compiled";
    /** An executable of an empty program: the runtime and a small payload. */
    readonly path: string;
    /** Whether the runtime was fetched now, or was in Deno's cache. */
    readonly downloaded: boolean;
  }
  | {
    readonly kind: "failed";
    /** What Deno printed, or that its server did not answer. */
    readonly output: string;
  };

/**
 * Compiles an empty program in `folder`, with the runtime Deno finds by itself.
 *
 * Gives up after five seconds without any answer from Deno's download server.
 * Needs read, write, run and net permission.
 */
export async function compileWithOwnRuntime(
  target: string,
  folder: string,
  deno: string,
  signal: AbortSignal,
): Promise<VendorResult> {
  const source = join(folder, "empty.js");
  const path = join(folder, "empty");
  await Deno.writeTextFile(source, "");

  const silence = new AbortController();
  let answer: Promise<void> | undefined;
  try {
    const compiled = await runDeno({
      deno,
      args: ["compile", "--no-config", "--no-lock", "--no-check", "--target", target, "-o", path]
        .concat(source),
      signal: AbortSignal.any([signal, silence.signal]),
      onLine: (line) => {
        const url = /^Download (https:\S+)/.exec(line)?.[1];
        if (url !== undefined) answer ??= abortUnlessAnswered(url, silence, signal);
      },
    });
    if (!compiled.success) return { kind: "failed", output: compiled.output };
    return { kind: "compiled", path, downloaded: answer !== undefined };
  } catch (error) {
    if (error !== silence.signal.reason || signal.aborted) throw error;
    return { kind: "failed", output: "Deno's download server does not answer." };
  } finally {
    await answer;
  }
}

/** Asks the server for the file's header only; any HTTP answer counts as one. */
async function abortUnlessAnswered(
  url: string,
  silence: AbortController,
  signal: AbortSignal,
): Promise<void> {
  try {
    const response = await fetch(url, {
      method: "HEAD",
      signal: AbortSignal.any([signal, silence.signal, AbortSignal.timeout(ANSWER_MS)]),
    });
    await response.body?.cancel();
  } catch {
    silence.abort();
  }
}
