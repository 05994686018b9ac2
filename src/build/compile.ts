/**
 * Compiles the bundle into the executable, and puts it in place only when it is
 * what it should be.
 *
 * @module
 */

import { dirname, join } from "@std/path";
import { checkRuntimeOf } from "./cut_runtime.ts";
import { runDeno } from "./deno_child.ts";
import { BuildFailure, diskFull, saysDiskFull } from "./failure.ts";
import { BAKED_FLAGS } from "./permissions.ts";
import type { Runtime } from "./runtime.ts";
import { makeScratch } from "./scratch.ts";
import { withClock } from "./status.ts";
import { MAX_EXECUTABLE_BYTES, type Target } from "./targets.ts";

/** What {@link compile} works with. */
export interface CompileRequest {
  /** The Deno executable of the pinned version. */
  readonly deno: string;
  /** The bundled program. */
  readonly bundle: string;
  /** The verified runtime. */
  readonly runtime: Runtime;
  /** The platform to build for. */
  readonly target: Target;
  /** Where the executable goes. */
  readonly output: string;
  /** Ends the run. */
  readonly signal: AbortSignal;
}

const UNTOUCHED = "The executable of an earlier build is as it was.";

/**
 * Compiles, checks and renames into place; returns the size in bytes.
 *
 * The working directory is the scratch folder and neither a configuration nor a
 * lock file is read, so that nothing of the machine enters the executable.
 * Throws {@link BuildFailure}; needs read, write and run permission.
 */
export async function compile(request: CompileRequest): Promise<number> {
  const { target, runtime, output, signal } = request;
  const folder = dirname(output);
  await using scratch = await makeScratch(folder);
  const part = join(scratch.path, "turnguard");
  const result = await withClock("Compiling", () =>
    runDeno({
      deno: request.deno,
      args: ["compile", "--no-check", "--no-config", "--no-lock", ...BAKED_FLAGS]
        .concat("--target", target.triple, "--output", part, request.bundle),
      env: runtime.path === undefined ? {} : { DENORT_BIN: runtime.path },
      cwd: scratch.path,
      signal,
    }));
  if (!result.success) {
    if (saysDiskFull(result.output)) throw diskFull(folder, result.output);
    throw new BuildFailure({
      wrong: "The bundled program could not be compiled.",
      untouched: UNTOUCHED,
      advice: runtime.path === undefined
        ? "Deno fetches this platform's runtime by itself: check the network, or let " +
          "DENORT_BIN name a copy."
        : "See what Deno says below.",
      output: result.output,
    });
  }

  const { size } = await Deno.stat(part);
  await demandPinned(part, size, target);
  await Deno.chmod(part, 0o755);
  await Deno.rename(part, output);
  return size;
}

async function demandPinned(executable: string, bytes: number, target: Target): Promise<void> {
  if (target.runtime === undefined) return;
  const check = await checkRuntimeOf(executable, target.runtime);
  if (check.kind === "foreign") {
    throw new BuildFailure({
      wrong: `The compiled file ${check.because}, so it is not the pinned runtime.`,
      untouched: `${UNTOUCHED} The compiled file was deleted.`,
      advice: "Remove the folder .build, then build again.",
    });
  }
  if (bytes > MAX_EXECUTABLE_BYTES) {
    throw new BuildFailure({
      wrong: `The compiled file has ${bytes} bytes, more than the ${MAX_EXECUTABLE_BYTES} allowed.`,
      untouched: `${UNTOUCHED} The compiled file was deleted.`,
      advice: "Look for a large import: only what the bundle holds may be in the executable.",
    });
  }
}
