/**
 * A stand-in for the Deno executable that plays one scene of a build.
 *
 * @module
 */

import type { TempFolder } from "./_temp_folder.ts";

/** What the stand-in does, as shell commands; `$out` and `$cache` are set. */
export interface FakeDeno {
  /** For `deno compile`; `$out` is the file that it should write. */
  readonly compile?: string;
  /** For `deno cache`; `$cache` is the folder that packages go to. */
  readonly cache?: string;
}

/**
 * Writes the stand-in into a folder and returns its path.
 *
 * A tool without a scene of its own says so and fails.
 */
export function fakeDeno(folder: TempFolder, scenes: FakeDeno): string {
  const missing = "echo 'error: not in this scene' >&2; exit 1";
  return folder.write(
    "fake/deno",
    `#!/bin/sh
out= cache="$DENO_DIR/npm/registry" previous=
for argument; do
  case "$previous" in -o | --output) out="$argument" ;; esac
  previous="$argument"
done
case "$1" in
  compile) ${scenes.compile ?? missing} ;;
  cache) ${scenes.cache ?? missing} ;;
  *) ${missing} ;;
esac
`,
    0o755,
  );
}
