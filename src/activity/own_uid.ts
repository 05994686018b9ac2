/** Whose process this is. */

/**
 * User id of this process, or `undefined` when it cannot be told.
 *
 * The runtime tells it only to programs that may ask the system; the owner of a process's own folder,
 * or of a file that it has just made, says the same.
 */
export function ownUid(): number | undefined {
  try {
    return Deno.statSync("/proc/self").uid ?? undefined;
  } catch {
    return uidOfNewFile();
  }
}

function uidOfNewFile(): number | undefined {
  let path: string | undefined;
  try {
    path = Deno.makeTempFileSync({ prefix: "turnguard-" });
    return Deno.lstatSync(path).uid ?? undefined;
  } catch {
    return undefined;
  } finally {
    if (path !== undefined) Deno.removeSync(path);
  }
}
