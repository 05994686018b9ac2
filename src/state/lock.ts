/**
 * The lock that all state files share: a link to a private owner directory.
 *
 * The visible object is a symbolic link, so the holder's pid is on disk before the lock appears.
 * Plain directories made by older builds are honoured. A live pid is never stolen from, however old
 * the lock; a dead one is reclaimed at once, under the lock's own steal lock.
 */

import { basename, dirname, join, resolve } from "@std/path";
import { ageSeconds } from "../platform/clock.ts";
import { readCapture } from "../platform/file_text.ts";
import { liveness } from "../platform/liveness.ts";
import { ownKind } from "../platform/path_kind.ts";
import { parsePid, type Pid } from "../platform/pid.ts";
import { randomName, removeQuietly } from "./replace_file.ts";

/** Files that a lock may hold. Anything else belongs to somebody else and is never removed. */
export type LockFile = "pid" | "fm-home" | "pid-identity" | "role" | "watcher-path";

const LOCK_FILES: readonly LockFile[] = ["pid", "fm-home", "pid-identity", "role", "watcher-path"];

/** Seconds after which a lock without a pid is an acquisition that was given up. */
const UNFINISHED_AFTER_SECONDS = 2;

/** The outcome of one try. */
export type LockTry =
  | {
    readonly kind: "acquired";
    readonly lock: HeldLock;
    /** The dead holder that the lock was taken from. */
    readonly recovered: Pid | undefined;
  }
  | {
    readonly kind: "refused";
    /** The live holder, where it is known. */
    readonly holder: Pid | undefined;
  };

/** How a lock is taken. */
export interface LockOptions {
  /**
   * Called before a dead holder's lock is removed; `false` leaves everything as it is. The watch
   * lock persists its down stretch here, so that no gap goes unreported.
   */
  readonly beforeSteal?: () => boolean;
}

/**
 * Locks of this process that are being taken or held. A lock that records our own pid counts as
 * abandoned, so two tasks of one process must never both come to that rule.
 */
const taken = new Set<string>();

/** A lock that this process holds. */
export class HeldLock implements Disposable {
  readonly path: string;
  readonly #owner: string;

  /** Made by {@link tryLock} only. */
  constructor(path: string, owner: string) {
    this.path = path;
    this.#owner = owner;
  }

  /** Writes one of the lock's files, one line. Not atomic: readers treat a torn value as a mismatch. */
  write(file: LockFile, value: string): void {
    Deno.writeTextFileSync(join(this.#owner, file), `${value}\n`);
  }

  /** Whether the lock still points to us and records our pid. */
  isOurs(): boolean {
    return linkTarget(this.path) === this.#owner && recordedPid(this.path) === String(Deno.pid);
  }

  /** Lets the lock go: the link first, then our directory. Does nothing to a lock that is not ours. */
  release(): void {
    if (this.isOurs()) removeQuietly(this.path);
    removeOwnerDirectory(this.#owner);
    taken.delete(this.path);
  }

  /** Leaves the lock on disk on purpose; the next taker finds a dead holder and reports it. */
  abandon(): void {
    taken.delete(this.path);
  }

  /** Releases the lock. */
  [Symbol.dispose](): void {
    this.release();
  }
}

/**
 * Tries once to take the lock at `path`, without waiting.
 *
 * Throws only what creating the owner directory throws (no permission, disk full); every race and
 * every foreign object at `path` is `refused`.
 */
export function tryLock(path: string, options: LockOptions = {}): LockTry {
  if (taken.has(path)) return { kind: "refused", holder: undefined };
  taken.add(path);
  let outcome: LockTry = { kind: "refused", holder: undefined };
  try {
    outcome = new Acquisition(path, options).run();
  } finally {
    if (outcome.kind === "refused") taken.delete(path);
  }
  return outcome;
}

/**
 * Removes the lock at `path` whoever holds it; `true` when it is gone. The caller has proven that the
 * holder is, or must go, and holds the steal lock.
 */
export function removeLockAt(path: string): boolean {
  return removeLock(path, look(path));
}

/** Milliseconds between the tries of a waiting form. */
const WAIT_STEP_MS = 100;

/** Tries until the lock is taken or `limitMs` have passed; gives the last refusal then. */
export async function lockWithin(
  path: string,
  limitMs: number,
  options: LockOptions & { readonly stepMs?: number } = {},
): Promise<LockTry> {
  const stepMs = options.stepMs ?? WAIT_STEP_MS;
  for (let waitedMs = 0;; waitedMs += stepMs) {
    const outcome = tryLock(path, options);
    if (outcome.kind === "acquired" || waitedMs >= limitMs) return outcome;
    await new Promise((resolve) => setTimeout(resolve, stepMs));
  }
}

/** One try at one lock. */
class Acquisition {
  readonly #path: string;
  readonly #options: LockOptions;

  constructor(path: string, options: LockOptions) {
    this.#path = path;
    this.#options = options;
  }

  run(): LockTry {
    const created = this.#create(undefined);
    if (created !== undefined) return acquired(created, undefined);
    const seen = look(this.#path);
    if (seen.pid === String(Deno.pid)) return this.#reclaimOwn(seen);
    return isReclaimable(seen, this.#path) ? this.#steal(seen) : refused(seen);
  }

  /**
   * Makes the lock if nothing is there.
   *
   * Everything is verified after the link exists, because a thief that judged an earlier state may
   * still be at work; `steal` is the steal lock that this very operation holds.
   */
  #create(steal: HeldLock | undefined): HeldLock | undefined {
    const owner = makeOwner(this.#path);
    const lock = new HeldLock(this.#path, owner);
    try {
      lock.write("pid", String(Deno.pid));
      if (ownKind(this.#path) === "absent") {
        Deno.symlinkSync(owner, this.#path);
        const contested = steal === undefined && ownKind(stealPath(this.#path)) !== "absent";
        if (lock.isOurs() && !contested && (steal === undefined || steal.isOurs())) return lock;
      }
    } catch {
      // Somebody else was faster, or the folder refuses links; either way the lock is not ours.
    }
    this.#withdraw(owner);
    return undefined;
  }

  #withdraw(owner: string): void {
    if (linkTarget(this.#path) === owner) removeQuietly(this.#path);
    // A link made over a plain directory lands inside it.
    const stray = join(this.#path, basename(owner));
    if (linkTarget(stray) === owner) removeQuietly(stray);
    removeOwnerDirectory(owner);
  }

  /** Our own pid without a lock that we hold: an earlier hold of this process was cut short. */
  #reclaimOwn(seen: Look): LockTry {
    if (!removeLock(this.#path, seen)) return refused(seen);
    const lock = this.#create(undefined);
    return lock === undefined ? refused(look(this.#path)) : acquired(lock, undefined);
  }

  #steal(before: Look): LockTry {
    const attempt = tryLock(stealPath(this.#path));
    if (attempt.kind === "refused") return refused(before);
    const steal = attempt.lock;
    using _steal = steal;
    const now = look(this.#path);
    const unchanged = now.pid === before.pid && now.target === before.target;
    if (!unchanged || !isReclaimable(now, this.#path) || !steal.isOurs()) return refused(now);
    if (this.#options.beforeSteal?.() === false) return refused(now);
    if (!removeLock(this.#path, now)) return refused(now);
    const lock = this.#create(steal);
    if (lock === undefined) return refused(look(this.#path));
    return acquired(lock, parsePid(now.pid));
  }
}

function acquired(lock: HeldLock, recovered: Pid | undefined): LockTry {
  return { kind: "acquired", lock, recovered };
}

function refused(seen: Look): LockTry {
  const pid = parsePid(seen.pid);
  const live = pid !== undefined && liveness(pid) === "alive";
  return { kind: "refused", holder: live ? pid : undefined };
}

/** What stands at a lock's path. */
interface Look {
  readonly kind: ReturnType<typeof ownKind>;
  /** Text of the `pid` file; empty when there is none. */
  readonly pid: string;
  /** Where the link points, for a link. */
  readonly target: string | undefined;
}

function look(path: string): Look {
  return { kind: ownKind(path), pid: recordedPid(path), target: linkTarget(path) };
}

/** Whether nobody can be holding the lock any more. */
function isReclaimable(seen: Look, path: string): boolean {
  if (seen.kind === "absent") return true;
  if (seen.kind !== "link" && seen.kind !== "directory") return false;
  if (!/^[0-9]+$/.test(seen.pid)) return isUnfinishedForLong(path);
  // Signal 0 to pid 0 reaches our own group and succeeds: such a lock is never taken.
  if (Number(seen.pid) === 0) return false;
  const pid = parsePid(seen.pid);
  return pid === undefined || liveness(pid) === "dead" || liveness(pid) === "foreign";
}

/** Somebody between making a directory and writing its pid needs less than two seconds. */
function isUnfinishedForLong(path: string): boolean {
  const configured = Number(Deno.env.get("FM_LOCK_STALE_AFTER") ?? "");
  const limit = Math.max(UNFINISHED_AFTER_SECONDS, Number.isInteger(configured) ? configured : 0);
  return (ageSeconds(path) ?? Infinity) >= limit;
}

function removeLock(path: string, seen: Look): boolean {
  if (seen.target !== undefined) {
    removeQuietly(path);
    const owner = ownerNamed(path, seen.target);
    if (owner !== undefined) removeOwnerDirectory(owner);
  } else if (seen.kind === "directory") {
    removeOwnerDirectory(path);
  }
  return ownKind(path) === "absent";
}

/**
 * The owner directory that a lock's link names, if it is one: beside the lock and named after it.
 *
 * A link may point anywhere; nothing outside is ever emptied.
 */
function ownerNamed(path: string, target: string): string | undefined {
  const name = basename(target);
  if (!name.startsWith(`${basename(path)}.owner.`)) return undefined;
  try {
    const folder = dirname(resolve(dirname(path), target));
    return Deno.realPathSync(folder) === Deno.realPathSync(dirname(path))
      ? join(folder, name)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Removes the private directory of a lock, with the files that a lock may have. */
export function removeOwnerDirectory(directory: string): void {
  for (const file of LOCK_FILES) removeQuietly(join(directory, file));
  removeQuietly(directory);
}

function makeOwner(path: string): string {
  const folder = Deno.realPathSync(dirname(path));
  while (true) {
    const owner = join(folder, `${basename(path)}.owner.${randomName()}`);
    try {
      Deno.mkdirSync(owner, { mode: 0o700 });
      return owner;
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    }
  }
}

function stealPath(path: string): string {
  return `${path}.steal`;
}

function recordedPid(path: string): string {
  const content = readCapture(join(path, "pid"));
  return content.kind === "text" ? content.text : "";
}

function linkTarget(path: string): string | undefined {
  try {
    return Deno.readLinkSync(path);
  } catch {
    return undefined;
  }
}
