/** Folders that nobody else can put files in. */

import { dirname } from "@std/path";

const OTHERS_MAY_WRITE = 0o022;
const STICKY = 0o1000;

/** Whether `path` is a real folder of this user that nobody else may write in. */
export function isOwnFolder(path: string, uid: number): boolean {
  const info = lstat(path);
  return info?.isDirectory === true && info.uid === uid &&
    ((info.mode ?? OTHERS_MAY_WRITE) & OTHERS_MAY_WRITE) === 0;
}

/** Whether an explicitly named file may be in `path`: an own folder, or the machine's shared one. */
export function mayHoldFiles(path: string, uid: number): boolean {
  return isOwnFolder(path, uid) || isSharedFolder(path);
}

/** Whether `path` is a folder such as `/tmp`: the machine's, and nobody can rename another's file. */
export function isSharedFolder(path: string): boolean {
  const info = lstat(path);
  return info?.isDirectory === true && info.uid === 0 && ((info.mode ?? 0) & STICKY) !== 0;
}

/**
 * Makes an own folder where there is none, and the folders above it; says whether it may be used.
 * Never throws.
 */
export function ensureOwnFolder(path: string, uid: number): boolean {
  if (lstat(path) === undefined) {
    try {
      Deno.mkdirSync(path, { recursive: true, mode: 0o700 });
    } catch {
      // Somebody was faster, or it cannot be made; what is there decides.
    }
  }
  return isOwnFolder(path, uid);
}

/** The same for a folder below `/tmp`, whose parent must belong to this user as well. */
export function ensureTemporaryFolder(path: string, uid: number): boolean {
  const parent = dirname(path);
  return isSharedFolder(dirname(parent)) && ensureOwnFolder(parent, uid) &&
    ensureOwnFolder(path, uid);
}

function lstat(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.lstatSync(path);
  } catch {
    return undefined;
  }
}
