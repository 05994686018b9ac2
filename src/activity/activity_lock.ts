/** The lock that the writers of an activity file try, and never wait for. */

import { liveness } from "../platform/liveness.ts";
import { parsePid } from "../platform/pid.ts";
import { readSafely, whyNot } from "./safe_file.ts";

/** The outcome of one try. */
export type ActivityLockTry =
  | { readonly kind: "held"; readonly lock: Disposable }
  | { readonly kind: "busy" }
  /** The lock's file is not ours to use. */
  | { readonly kind: "refused" };

/** Tries to reopen a lock whose file was exchanged meanwhile. */
const REOPENS = 3;

/** Milliseconds after which a lock folder counts as left over. */
const FOLDER_LIMIT_MS = 10_000;

/**
 * Tries to lock the activity file at `file`. Never waits and never throws.
 *
 * The system frees the lock when its holder ends, however it ends. Where a file system knows no such
 * locks, a folder stands for it.
 */
export function tryActivityLock(file: string, uid: number): ActivityLockTry {
  const path = `${file}.lock`;
  for (let opened = 0; opened < REOPENS; opened++) {
    const handle = openLock(path, uid);
    if (handle === undefined) return { kind: "refused" };
    const tried = lockHandle(handle);
    if (tried !== "held") {
      handle.close();
      return tried === "busy" ? { kind: "busy" } : tryFolder(`${file}.lockd`, uid);
    }
    if (isStillAt(handle, path)) return { kind: "held", lock: handle };
    handle.close();
  }
  return { kind: "busy" };
}

function openLock(path: string, uid: number): Deno.FsFile | undefined {
  // Nearly always it is there already, and a refused creation costs more than a look.
  return openExisting(path, uid) ?? openNew(path) ?? openExisting(path, uid);
}

function openNew(path: string): Deno.FsFile | undefined {
  try {
    return Deno.openSync(path, { read: true, write: true, createNew: true, mode: 0o600 });
  } catch {
    return undefined;
  }
}

function openExisting(path: string, uid: number): Deno.FsFile | undefined {
  try {
    const before = Deno.lstatSync(path);
    if (whyNot(before, uid) !== undefined) return undefined;
    const handle = Deno.openSync(path, { read: true });
    const after = handle.statSync();
    if (after.ino === before.ino && after.dev === before.dev) return handle;
    handle.close();
    return undefined;
  } catch {
    return undefined;
  }
}

function lockHandle(handle: Deno.FsFile): "held" | "busy" | "unsupported" {
  try {
    return handle.tryLockSync(true) ? "held" : "busy";
  } catch {
    return "unsupported";
  }
}

function isStillAt(handle: Deno.FsFile, path: string): boolean {
  try {
    const now = Deno.lstatSync(path);
    const held = handle.statSync();
    return now.ino === held.ino && now.dev === held.dev;
  } catch {
    return false;
  }
}

function tryFolder(path: string, uid: number): ActivityLockTry {
  const owner = `${path}/owner`;
  const take = (): ActivityLockTry | undefined => {
    try {
      Deno.mkdirSync(path, { mode: 0o700 });
      Deno.writeTextFileSync(owner, `${Deno.pid}\n`, { createNew: true, mode: 0o600 });
      return { kind: "held", lock: { [Symbol.dispose]: () => removeFolder(path, owner) } };
    } catch (error) {
      return error instanceof Deno.errors.AlreadyExists ? undefined : { kind: "refused" };
    }
  };
  const taken = take();
  if (taken !== undefined) return taken;
  if (!isLeftOver(path, owner, uid)) return { kind: "busy" };
  removeFolder(path, owner);
  return take() ?? { kind: "busy" };
}

function isLeftOver(path: string, owner: string, uid: number): boolean {
  try {
    const info = Deno.lstatSync(path);
    if (!info.isDirectory || info.uid !== uid) return false;
    if (Date.now() - (info.mtime?.getTime() ?? 0) > FOLDER_LIMIT_MS) return true;
    const content = readSafely(owner, uid);
    const pid = content.kind === "text" ? parsePid(content.text.trim()) : undefined;
    return pid !== undefined && liveness(pid) === "dead";
  } catch {
    return false;
  }
}

function removeFolder(path: string, owner: string): void {
  try {
    Deno.removeSync(owner);
    Deno.removeSync(path);
  } catch {
    // Somebody else has broken it already.
  }
}
