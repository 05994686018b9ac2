/** Rotation of a log. */

/** Moves the file at `path` to `.1`, and older ones on, once it has `limit` bytes. Throws rarely. */
export function putFileAside(path: string, limit: number, kept: number): void {
  let info: Deno.FileInfo;
  try {
    info = Deno.lstatSync(path);
  } catch {
    return;
  }
  // Opening a pipe for a log would wait for a reader.
  if (!info.isFile) throw new Error(`${path} is no regular file`);
  if (info.size < limit) return;
  for (let number = kept - 1; number >= 1; number--) {
    try {
      Deno.renameSync(`${path}.${number}`, `${path}.${number + 1}`);
    } catch {
      // There is none of that number yet.
    }
  }
  Deno.renameSync(path, `${path}.1`);
}
