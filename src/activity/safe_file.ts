/** Files that are believed only when nobody else can have planted them. */

/** What a file holds, or why it is not believed. */
export type SafeRead =
  | { readonly kind: "text"; readonly text: string; readonly modifiedMs: number }
  | { readonly kind: "absent" }
  | { readonly kind: "refused"; readonly because: string };

/** Bytes that a state file may have. */
const SIZE_LIMIT = 1024 * 1024;

/**
 * Reads a regular file of this user that has one name; nothing else is opened. Never throws.
 *
 * It is looked at before and after it is opened, since the runtime cannot refuse links while it opens.
 */
export function readSafely(path: string, uid: number, limit = SIZE_LIMIT): SafeRead {
  let before: Deno.FileInfo;
  try {
    before = Deno.lstatSync(path);
  } catch (error) {
    return error instanceof Deno.errors.NotFound
      ? { kind: "absent" }
      : { kind: "refused", because: "it cannot be looked at" };
  }
  const because = whyNot(before, uid, limit);
  if (because !== undefined) return { kind: "refused", because };
  try {
    const file = Deno.openSync(path, { read: true });
    using _file = file;
    const after = file.statSync();
    if (after.dev !== before.dev || after.ino !== before.ino) {
      return { kind: "refused", because: "it was exchanged while it was opened" };
    }
    const bytes = readAll(file, limit + 1);
    if (bytes.length > limit) return { kind: "refused", because: "it is too large" };
    const text = new TextDecoder().decode(bytes);
    return { kind: "text", text, modifiedMs: after.mtime?.getTime() ?? 0 };
  } catch (error) {
    return error instanceof Deno.errors.NotFound
      ? { kind: "absent" }
      : { kind: "refused", because: "it cannot be read" };
  }
}

/** Why a file is not believed; `undefined` when it is. */
export function whyNot(info: Deno.FileInfo, uid: number, limit = SIZE_LIMIT): string | undefined {
  if (info.isSymlink) return "it is a link";
  if (!info.isFile) return "it is no regular file";
  if (info.uid !== uid) return "it belongs to somebody else";
  if (info.nlink !== 1) return "it has another name as well";
  return info.size > limit ? "it is too large" : undefined;
}

function readAll(file: Deno.FsFile, limit: number): Uint8Array {
  const bytes = new Uint8Array(limit);
  let length = 0;
  while (length < limit) {
    const count = file.readSync(bytes.subarray(length));
    if (count === null || count === 0) break;
    length += count;
  }
  return bytes.subarray(0, length);
}
