/** Wall-clock time in the units that state files use. */

/** Milliseconds since the epoch. */
export function nowMs(): number {
  return Date.now();
}

/** Whole seconds since the epoch, fraction cut off as shell timestamps are. */
export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

/**
 * Age of `path` itself in whole seconds (links not followed), or `undefined` when it cannot be read.
 *
 * Both sides are truncated before they are subtracted, as a shell's `date` and `stat` do. The result
 * is negative for a file from the future.
 */
export function ageSeconds(path: string): number | undefined {
  try {
    const modified = Deno.lstatSync(path).mtime;
    return modified === null ? undefined : nowSeconds() - Math.floor(modified.getTime() / 1000);
  } catch {
    return undefined;
  }
}
