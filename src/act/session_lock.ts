/** Taking, refreshing and releasing a home's session lock. */

import { judgeSessionOwner } from "../decide/session_owner.ts";
import { harnessAncestry } from "../observe/ancestry.ts";
import {
  isLiveHarness,
  observeSession,
  recordedSessionId,
  SESSION_LOCK_NAME,
  SESSION_SIDECAR_NAME,
  sessionLockHolder,
  type TrustedSession,
  trustedSession,
} from "../observe/session.ts";
import type { Environment } from "../platform/environment.ts";
import { errorMessage, readCapture, readText } from "../platform/file_text.ts";
import { ownKind } from "../platform/path_kind.ts";
import { parsePid, type Pid } from "../platform/pid.ts";
import type { Processes } from "../platform/processes.ts";
import { type HeldLock, lockWithin } from "../state/lock.ts";
import { randomName, removeQuietly, replaceFile } from "../state/replace_file.ts";

/** What acquiring the session lock came to. */
export type SessionLockOutcome =
  | { readonly kind: "acquired"; readonly pid: Pid }
  /** Another live session holds it. */
  | { readonly kind: "held"; readonly pid: Pid; readonly sessionId: string | undefined }
  /** No harness among our ancestors: nobody could be named as the holder. */
  | { readonly kind: "no-harness" }
  | SessionLockFailure;

/** What stands in the way: who is at it already, the lock itself, or the folder around it. */
export interface SessionLockFailure {
  readonly kind: "unable";
  readonly obstacle: "acquisition" | "lock" | "folder";
  readonly because: string;
}

/** What acquiring needs. */
export interface SessionLockRequest {
  readonly state: string;
  readonly environment: Environment;
  /** Looks at processes afresh. */
  readonly look: () => Processes;
}

/** Milliseconds that an acquisition waits for another one. */
const ACQUIRE_LIMIT_MS = 10_000;

/**
 * Takes the session lock for the harness that this process works for.
 *
 * A lock that is ours already is confirmed, not rewritten. A live harness is never taken from.
 */
export async function acquireSessionLock(request: SessionLockRequest): Promise<SessionLockOutcome> {
  const { state, environment } = request;
  const ancestry = await harnessAncestry(request.look());
  const session = trustedSession(environment, ancestry);
  const anchor = session?.pid ?? ancestry.at(-1)?.pid;
  if (anchor === undefined) return { kind: "no-harness" };
  try {
    Deno.mkdirSync(state, { recursive: true });
    proveWritable(state);
    const early = await judgeExisting(request, anchor);
    if (early.kind === "held") return early;
    const attempt = await claimAcquisition(state);
    if (attempt.kind === "unable") return attempt;
    using _acquire = attempt.lock;
    return await acquireUnder(request, anchor, session);
  } catch (error) {
    return unable("folder", errorMessage(error));
  }
}

function unable(obstacle: SessionLockFailure["obstacle"], because: string): SessionLockFailure {
  return { kind: "unable", obstacle, because };
}

type Existing =
  | { readonly kind: "free" }
  | { readonly kind: "confirmed" }
  | SessionLockFailure
  | Extract<SessionLockOutcome, { kind: "held" }>;

/** What the lock that is there means for us. */
async function judgeExisting(request: SessionLockRequest, anchor: Pid): Promise<Existing> {
  const { state, environment, look } = request;
  const path = `${state}/${SESSION_LOCK_NAME}`;
  const kind = ownKind(path);
  if (kind === "absent") return { kind: "free" };
  if (kind !== "file") return unable("lock", "the session lock is not a plain file");
  const content = readCapture(path);
  // It may name a live session: what cannot be read is not free.
  if (content.kind === "unreadable") {
    return unable("lock", `the session lock cannot be read (${content.because})`);
  }
  const holder = sessionLockHolder(state);
  if (holder === undefined) return { kind: "free" };
  if (holder === anchor) return { kind: "confirmed" };
  const processes = look();
  const owner = judgeSessionOwner(await observeSession(state, environment, processes));
  if (owner.kind === "ours") return { kind: "confirmed" };
  if (!await isLiveHarness(holder, processes)) return { kind: "free" };
  return { kind: "held", pid: holder, sessionId: recordedSessionId(state) };
}

async function acquireUnder(
  request: SessionLockRequest,
  anchor: Pid,
  session: TrustedSession | undefined,
): Promise<SessionLockOutcome> {
  const { state } = request;
  const existing = await judgeExisting(request, anchor);
  if (existing.kind === "held" || existing.kind === "unable") return existing;
  const wroteSidecar = writeSidecar(state, session?.id);
  const holder = sessionLockHolder(state);
  if (existing.kind === "confirmed" && holder !== undefined) {
    return { kind: "acquired", pid: holder };
  }
  const failure = writeHolder(state, anchor);
  if (failure === undefined) return { kind: "acquired", pid: anchor };
  if (wroteSidecar) removeQuietly(`${state}/${SESSION_SIDECAR_NAME}`);
  return failure;
}

/** Written in place, as every other writer does, and read back; returns what went wrong. */
function writeHolder(state: string, anchor: Pid): SessionLockFailure | undefined {
  const path = `${state}/${SESSION_LOCK_NAME}`;
  try {
    Deno.writeTextFileSync(path, `${anchor}\n`);
  } catch (error) {
    return unable("lock", `the session lock could not be written (${errorMessage(error)})`);
  }
  if (ownKind(path) === "file" && sessionLockHolder(state) === anchor) return undefined;
  return unable("lock", "the session lock does not say what was written to it");
}

/** Before line 1 of the lock, so that no reader ties a new holder to the last conversation. */
function writeSidecar(state: string, id: string | undefined): boolean {
  const path = `${state}/${SESSION_SIDECAR_NAME}`;
  if (id === undefined) {
    removeQuietly(path);
    return false;
  }
  if (recordedSessionId(state) === id) return false;
  replaceFile(path, `${id}\n`, { mode: 0o600, temporaryName: `${path}.${randomName()}` });
  return true;
}

function proveWritable(state: string): void {
  const probe = `${state}/.lock-write.${randomName()}`;
  Deno.openSync(probe, { write: true, createNew: true }).close();
  Deno.removeSync(probe);
}

/**
 * Waits its turn to acquire.
 *
 * A session start that is still talking to the network may hold this lock for long; it names itself,
 * and is not waited for.
 */
async function claimAcquisition(
  state: string,
): Promise<{ readonly kind: "taken"; readonly lock: HeldLock } | SessionLockFailure> {
  const path = `${state}/${SESSION_LOCK_NAME}.acquire`;
  const first = await lockWithin(path, 0);
  if (first.kind === "acquired") return { kind: "taken", lock: first.lock };
  if (first.holder !== undefined && first.holder === startingPid(state)) {
    return unable("acquisition", `pid ${first.holder} is still starting this session`);
  }
  const later = await lockWithin(path, ACQUIRE_LIMIT_MS);
  if (later.kind === "acquired") return { kind: "taken", lock: later.lock };
  return unable("acquisition", "another acquisition does not end");
}

function startingPid(state: string): Pid | undefined {
  const content = readText(`${state}/.startup-network.status`);
  if (content.kind !== "text") return undefined;
  const line = content.text.split("\n").findLast((candidate) => candidate.startsWith("pid="));
  return parsePid(line?.slice("pid=".length) ?? "");
}

/** What releasing the session lock came to. */
export type SessionRelease =
  | { readonly kind: "released" }
  | { readonly kind: "not-ours" }
  | SessionLockFailure;

/** Removes a session lock that is ours, and its sidecar. Leaves another's without waiting for it. */
export async function releaseSessionLock(request: SessionLockRequest): Promise<SessionRelease> {
  const { state } = request;
  if (!await isOurs(request)) return { kind: "not-ours" };
  try {
    const attempt = await claimAcquisition(state);
    if (attempt.kind === "unable") return attempt;
    using _acquire = attempt.lock;
    if (!await isOurs(request)) return { kind: "not-ours" };
    Deno.removeSync(`${state}/${SESSION_LOCK_NAME}`);
    removeQuietly(`${state}/${SESSION_SIDECAR_NAME}`);
    return { kind: "released" };
  } catch (error) {
    return unable("folder", errorMessage(error));
  }
}

async function isOurs({ state, environment, look }: SessionLockRequest): Promise<boolean> {
  return judgeSessionOwner(await observeSession(state, environment, look())).kind === "ours";
}
