/**
 * An empty program, compiled like the product itself: the floor that nothing can be faster than.
 *
 * @module
 */

import { dirname, fromFileUrl, join } from "@std/path";
import { compile } from "../../src/build/compile.ts";
import { findPinnedDeno } from "../../src/build/pinned_deno.ts";
import { findRuntime } from "../../src/build/runtime.ts";
import { findTarget } from "../../src/build/targets.ts";

const CACHE = join(dirname(dirname(dirname(fromFileUrl(import.meta.url)))), ".build");

/** Compiles an empty program into `folder` with the flags of the product; returns its path. */
export async function compileEmptyProgram(folder: string): Promise<string> {
  const target = findTarget(Deno.build.target);
  if (target === undefined) throw new Error(`nothing is built for ${Deno.build.target}`);
  const { signal } = new AbortController();
  const deno = await findPinnedDeno(CACHE, signal);
  const named = Deno.env.get("DENORT_BIN") || undefined;
  const runtime = await findRuntime({ target, deno, cache: CACHE, named, signal });
  const bundle = join(folder, "empty.js");
  const output = join(folder, "empty");
  await Deno.writeTextFile(bundle, "");
  await compile({ deno, bundle, runtime, target, output, signal });
  return output;
}
