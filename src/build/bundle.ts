/**
 * Bundles the program into a few JavaScript files, the same bytes each time.
 *
 * @module
 */

import { basename, join } from "@std/path";
import { runDeno } from "./deno_child.ts";
import { BuildFailure, diskFull, saysDiskFull } from "./failure.ts";
import { makeScratch } from "./scratch.ts";

/** What {@link bundle} works with. */
export interface BundleRequest {
  /** The Deno executable of the pinned version. */
  readonly deno: string;
  /** The project's folder, whose `deno.json` maps the imports. */
  readonly root: string;
  /** The program's first module. */
  readonly entry: string;
  /** The folder that the bundle is put in. */
  readonly folder: string;
  /** The version and the commit, for `src/build_info.ts`. */
  readonly stamp: BuildStamp;
  /** Ends the run. */
  readonly signal: AbortSignal;
}

/** What the build tells the program about itself. */
export interface BuildStamp {
  /** The version in `deno.json`. */
  readonly version: string;
  /** The commit that was checked out, `null` when that is unknown. */
  readonly commit: string | null;
}

/** The program's first module in the folder of the bundle. */
export const BUNDLE_ENTRY = "main.js";

/**
 * Writes the bundle as the folder `bundle` and returns the path of its first module.
 *
 * Every dynamic import becomes a file of its own, which a run that does not need it
 * never reads: what a hook at a turn's end has to parse is the largest part of what
 * it costs. The files are minified, since the comments of a plain bundle name the
 * cache folder of the machine, and function names go, since nothing shows a stack
 * trace. The stamp is a statement in the first module, so that no source file
 * changes. Modification times are fixed because the executable stores them. Throws
 * {@link BuildFailure}; needs read, write and run permission.
 */
export async function bundle(request: BundleRequest): Promise<string> {
  await using scratch = await makeScratch(request.folder);
  const part = join(scratch.path, "bundle");
  const result = await runDeno({
    deno: request.deno,
    args: ["bundle", "--quiet", "--minify", "--code-splitting"]
      .concat("--lock", join(request.root, "deno.lock"), "--frozen")
      .concat("--outdir", part, request.entry),
    cwd: request.root,
    signal: request.signal,
  });
  if (!result.success) {
    if (saysDiskFull(result.output)) throw diskFull(request.folder, result.output);
    throw new BuildFailure({
      wrong: "The program could not be bundled.",
      untouched: "Nothing was built; an executable of an earlier build is as it was.",
      advice: "Correct what Deno names below (deno task check finds it too).",
      output: result.output,
    });
  }

  await stampEntry(part, request);
  for await (const { name } of Deno.readDir(part)) await Deno.utime(join(part, name), 0, 0);
  const finished = join(request.folder, "bundle");
  await removeTree(finished);
  await Deno.rename(part, finished);
  return join(finished, BUNDLE_ENTRY);
}

/** The entry keeps the name of its source; the bundle's has one that does not depend on it. */
async function stampEntry(folder: string, { entry, stamp }: BundleRequest): Promise<void> {
  const name = basename(entry).replace(/\.[a-z]+$/, ".js");
  const statement = `globalThis.__TURNGUARD_BUILD__=${JSON.stringify(stamp)};\n`;
  const text = statement + await Deno.readTextFile(join(folder, name));
  if (name !== BUNDLE_ENTRY) await Deno.remove(join(folder, name));
  await Deno.writeTextFile(join(folder, BUNDLE_ENTRY), text);
}

async function removeTree(path: string): Promise<void> {
  try {
    await Deno.remove(path, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
