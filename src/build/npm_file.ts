/**
 * Fetches one file of an npm package through Deno's own npm client.
 *
 * That client reads the registry, its credentials and its certificates from the
 * user's npm configuration, and npm itself need not be there.
 *
 * @module
 */

import { walk } from "@std/fs";
import { join } from "@std/path";
import { runDeno } from "./deno_child.ts";
import type { NpmFile } from "./targets.ts";

/** The result of {@link fetchNpmFile}. */
export type NpmFetch =
  | {
    readonly kind: "fetched";
    /** Where the file is; the caller may change and move it. */
    readonly path: string;
  }
  | {
    readonly kind: "failed";
    /** What Deno printed. */
    readonly output: string;
  };

/**
 * Fetches a package into `folder` and finds one of its files there.
 *
 * `folder` serves as a Deno cache of its own, so that a large package leaves
 * nothing in the user's. Needs read, write and run permission.
 */
export async function fetchNpmFile(
  file: NpmFile,
  folder: string,
  deno: string,
  signal: AbortSignal,
): Promise<NpmFetch> {
  const fetched = await runDeno({
    deno,
    args: [
      "cache",
      "--no-config",
      "--no-lock",
      "--node-modules-dir=none",
      `npm:${file.name}@${file.version}`,
    ],
    env: { DENO_DIR: folder },
    signal,
  });
  if (!fetched.success) return { kind: "failed", output: fetched.output };

  const ending = join(file.name, file.version, file.path);
  for await (const entry of walk(join(folder, "npm"), { includeDirs: false })) {
    if (entry.path.endsWith(ending)) return { kind: "fetched", path: entry.path };
  }
  return { kind: "failed", output: `${file.name} ${file.version} has no file ${file.path}` };
}
