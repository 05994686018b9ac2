/**
 * Finds the Deno that bundles and compiles: the running one when its version is
 * the pinned one, else the pinned one from the npm registry.
 *
 * A runtime of one version does not fit the compiler of another, so that any
 * Deno may start the build but only one may do it.
 *
 * @module
 */

import { join } from "@std/path";
import { BuildFailure, diskFull, saysDiskFull } from "./failure.ts";
import { matchesPin } from "./file_hash.ts";
import { fetchNpmFile } from "./npm_file.ts";
import { makeScratch } from "./scratch.ts";
import { report, withClock } from "./status.ts";
import { DENO_VERSION, findTarget, PINNED_BUILD_COMMAND } from "./targets.ts";

/**
 * The path of a Deno executable of the pinned version.
 *
 * A fetched one is kept in `cache`, and verified at each use. Throws
 * {@link BuildFailure} when there is none. Needs read, write and run permission.
 */
export async function findPinnedDeno(cache: string, signal: AbortSignal): Promise<string> {
  if (Deno.version.deno === DENO_VERSION) return Deno.execPath();

  const pin = findTarget(Deno.build.target)?.deno;
  if (pin === undefined) throw wrongVersion("");
  const kept = join(cache, `deno-${DENO_VERSION}-${Deno.build.target}`);
  if (!await matchesPin(kept, pin)) {
    await using scratch = await makeScratch(cache);
    const fetched = await withClock(
      `Fetching Deno ${DENO_VERSION} (about 45 MB)`,
      () => fetchNpmFile(pin.at, join(scratch.path, "npm"), Deno.execPath(), signal),
    );
    if (fetched.kind === "failed") {
      throw saysDiskFull(fetched.output)
        ? diskFull(cache, fetched.output)
        : wrongVersion(fetched.output);
    }
    if (!await matchesPin(fetched.path, pin)) {
      throw wrongVersion(`${pin.at.name}@${pin.at.version} does not hold the pinned file.`);
    }
    await Deno.chmod(fetched.path, 0o755);
    await Deno.rename(fetched.path, kept);
  }
  report("deno", `${DENO_VERSION} from .build, since ${Deno.version.deno} runs this build`);
  return kept;
}

function wrongVersion(output: string): BuildFailure {
  return new BuildFailure({
    wrong: `Deno ${Deno.version.deno} runs this build, which needs Deno ${DENO_VERSION}.`,
    untouched: "Nothing was built; an executable of an earlier build is as it was.",
    advice: `Run: ${PINNED_BUILD_COMMAND}`,
    output,
  });
}
