/**
 * A temporary folder beside the files it is for, gone at the end of its scope.
 *
 * @module
 */

import { ensureDir } from "@std/fs";

const PREFIX = ".part-";

/** A temporary folder; bind it with `await using`. */
export interface Scratch extends AsyncDisposable {
  /** Its absolute path. */
  readonly path: string;
}

/**
 * Makes a temporary folder inside `parent`, which is created when missing.
 *
 * On the same disk as its parent, so that a finished file can be renamed into
 * place. Needs read and write permission; throws what creating throws.
 */
export async function makeScratch(parent: string): Promise<Scratch> {
  await ensureDir(parent);
  const path = await Deno.makeTempDir({ dir: parent, prefix: PREFIX });
  return {
    path,
    async [Symbol.asyncDispose](): Promise<void> {
      await Deno.remove(path, { recursive: true });
    },
  };
}
