/** The session lock of a home, and what this session can prove about itself. */

import type { SessionFact } from "../decide/session_owner.ts";
import { recogniseHarness } from "../harness/recognise.ts";
import type { Environment } from "../platform/environment.ts";
import { lineOf, readCapture, readText } from "../platform/file_text.ts";
import { liveness } from "../platform/liveness.ts";
import { ownKind, targetKind } from "../platform/path_kind.ts";
import { parsePid, type Pid } from "../platform/pid.ts";
import type { Processes } from "../platform/processes.ts";
import { type HarnessAncestor, harnessAncestry } from "./ancestry.ts";

/** Name of the session lock in a state directory. */
export const SESSION_LOCK_NAME = ".lock";

/** Name of the session lock's sidecar, which carries the conversation's id. */
export const SESSION_SIDECAR_NAME = ".lock-session";

/** Observes the session lock and this session's own proofs. */
export async function observeSession(
  state: string,
  environment: Environment,
  processes: Processes,
): Promise<SessionFact> {
  const path = `${state}/${SESSION_LOCK_NAME}`;
  const kind = ownKind(path);
  const holder = sessionLockHolder(state);
  const ancestry = await harnessAncestry(processes);
  return {
    lockKind: kind === "file" || kind === "link" || kind === "absent" ? kind : "other",
    holder,
    holderIsHarness: holder !== undefined && await isLiveHarness(holder, processes),
    ancestry: ancestry.map((ancestor) => ancestor.pid),
    trustedSessionId: trustedSession(environment, ancestry)?.id,
    recordedSessionId: recordedSessionId(state),
    takesAbsentLock: targetKind(`${state}/${OWN_HOME_NAME}`) === "file",
  };
}

/**
 * Name of the file by which `turnguard init` marks a home that brings no session start of its own.
 *
 * Where another program starts sessions, an absent lock means that it has not done so, and nothing
 * may be taken in its place.
 */
export const OWN_HOME_NAME = ".turnguard-home";

/** The pid that the whole session lock names; a second line makes it malformed. */
export function sessionLockHolder(state: string): Pid | undefined {
  const content = readCapture(`${state}/${SESSION_LOCK_NAME}`);
  return content.kind === "text" ? parsePid(content.text) : undefined;
}

/** Line 1 of the session lock, as the readers of a rewake compare it. */
export function sessionLockLine(state: string): string {
  const content = readText(`${state}/${SESSION_LOCK_NAME}`);
  return content.kind === "text" ? lineOf(content.text, 1) : "";
}

/** The conversation's id in the sidecar; only a plain file counts. */
export function recordedSessionId(state: string): string | undefined {
  const path = `${state}/${SESSION_SIDECAR_NAME}`;
  if (ownKind(path) !== "file") return undefined;
  const content = readText(path);
  const id = content.kind === "text" ? lineOf(content.text, 1) : "";
  return id === "" || id.includes("\r") ? undefined : id;
}

/** Whether `pid` is alive and is a harness that may own a session lock. */
export async function isLiveHarness(pid: Pid, processes: Processes): Promise<boolean> {
  if (liveness(pid) !== "alive") return false;
  const found = await processes.info(pid);
  return found !== undefined && recogniseHarness(found) !== undefined;
}

/** The conversation that the environment names, and the process that runs it. */
export interface TrustedSession {
  readonly id: string;
  readonly pid: Pid;
}

/**
 * The session id of the environment, if `CLAUDE_PID` is a Claude process of our own ancestry.
 *
 * A Pi or Codex session that was started from a Claude pane inherits both variables; its ancestry
 * then does not reach that process.
 */
export function trustedSession(
  environment: Environment,
  ancestry: readonly HarnessAncestor[],
): TrustedSession | undefined {
  const id = environment.get("CLAUDE_CODE_SESSION_ID");
  const pid = parsePid(environment.get("CLAUDE_PID") ?? "");
  if (id === undefined || /[\r\n]/.test(id) || pid === undefined) return undefined;
  const member = ancestry.find((ancestor) => ancestor.pid === pid);
  return member?.harness.claudeShaped === true ? { id, pid } : undefined;
}
