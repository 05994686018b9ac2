/** When a transcript last grew. */

/** Seconds since the epoch of the last change of the file at `path`; it is never opened. */
export function transcriptAt(path: string): number | undefined {
  try {
    const modified = Deno.lstatSync(path).mtime;
    return modified === null ? undefined : modified.getTime() / 1000;
  } catch {
    return undefined;
  }
}
