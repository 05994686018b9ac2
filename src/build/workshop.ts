/**
 * What every build works with: the pinned Deno, the folder of what is kept, and the stamp.
 *
 * @module
 */

import { ensureDir } from "@std/fs";
import { join } from "@std/path";
import type { BuildStamp } from "./bundle.ts";
import { readCommit } from "./git_commit.ts";
import { findPinnedDeno } from "./pinned_deno.ts";
import { projectVersion } from "./project_version.ts";
import type { Target } from "./targets.ts";

/** A project that is about to be built. */
export interface Workshop {
  /** The project's folder. */
  readonly root: string;
  /** The folder for what the next build can use again. */
  readonly cache: string;
  /** The Deno executable of the pinned version. */
  readonly deno: string;
  readonly stamp: BuildStamp;
  readonly signal: AbortSignal;
}

/** Makes ready to build the project in `root`. Throws as finding the pinned Deno does. */
export async function openWorkshop(root: string, signal: AbortSignal): Promise<Workshop> {
  const cache = join(root, ".build");
  await ensureDir(cache);
  const deno = await findPinnedDeno(cache, signal);
  const stamp = { version: projectVersion(root), commit: readCommit(root) ?? null };
  return { root, cache, deno, stamp, signal };
}

/** The runtime that the environment names, if any. */
export function namedRuntime(): string | undefined {
  return Deno.env.get("DENORT_BIN") || undefined;
}

/** The file name of an executable in `dist`. */
export function executableName(target: Target): string {
  return target.triple === Deno.build.target ? "turnguard" : `turnguard-${target.triple}`;
}
