/** `lock`: the session lock, which names the one session that may supervise a home. */

import {
  acquireSessionLock,
  releaseSessionLock,
  type SessionLockFailure,
  type SessionLockOutcome,
  type SessionLockRequest,
  type SessionRelease,
} from "../act/session_lock.ts";
import { judgeSessionOwner, type SessionFact, type SessionOwner } from "../decide/session_owner.ts";
import { observeSession, SESSION_LOCK_NAME } from "../observe/session.ts";
import { writeTo } from "../platform/output.ts";
import type { Pid } from "../platform/pid.ts";
import { printable } from "../platform/printable.ts";
import { systemProcesses } from "../platform/processes.ts";
import { personHome } from "./call_home.ts";
import { type Call, EXIT, type ExitStatus, hasFlag, type ModeSpec } from "./mode.ts";
import { complain, complainUsage, say, sayJson } from "./person_output.ts";

/** The mode. */
export const lockMode: ModeSpec = {
  name: "lock",
  kind: "person",
  summary: "Acquire, release or show the session lock of a home.",
  operands: "acquire | release | status",
  maximumOperands: 1,
  flags: [
    { name: "root", value: "DIR", summary: "Root of the home." },
    { name: "json", summary: "For status: print one JSON object." },
  ],
  details: [
    "The lock names the harness process that this command runs under, so it is meant to be run by " +
    "a session (its start hook), not by hand. Another live session's lock is never taken: acquire " +
    "then ends with status 1, and that session operates read-only.",
  ],
  startsPrograms: true,
  run: lock,
};

async function lock(call: Call): Promise<ExitStatus> {
  const { environment } = call;
  const home = personHome(call);
  const request: SessionLockRequest = {
    state: home.state,
    environment,
    look: () => systemProcesses(environment),
  };
  switch (call.operands[0]) {
    case "acquire":
      return await reportAcquired(await acquireSessionLock(request), home.state);
    case "release":
      return await reportReleased(await releaseSessionLock(request), home.state);
    case "status":
      return await status(call, request);
    default:
      return await complainUsage(lockMode.name, "name one of: acquire, release, status");
  }
}

/** Scripts look for the first words of these lines. */
async function reportAcquired(outcome: SessionLockOutcome, state: string): Promise<ExitStatus> {
  switch (outcome.kind) {
    case "acquired":
      await say([`lock acquired: harness pid ${outcome.pid}`]);
      return EXIT.ok;
    case "held": {
      const session = outcome.sessionId === undefined
        ? ""
        : `, session ${printable(outcome.sessionId)}`;
      await writeTo(
        "stderr",
        `error: another live firstmate session holds the lock (pid ${outcome.pid}${session}); ` +
          "operate read-only until resolved\n",
      );
      return EXIT.failure;
    }
    case "no-harness":
      await writeTo("stderr", "error: cannot locate harness process in ancestry\n");
      return EXIT.failure;
    case "unable":
      return await complainUnable(outcome, state, "taken");
  }
}

async function reportReleased(release: SessionRelease, state: string): Promise<ExitStatus> {
  switch (release.kind) {
    case "released":
      await say(["lock released"]);
      return EXIT.ok;
    case "not-ours":
      return await complain({
        mode: lockMode.name,
        wrong: "the session lock is not this session's",
        untouched: "it is as it was",
        todo: "run turnguard lock status to see whose it is",
      });
    case "unable":
      return await complainUnable(release, state, "released");
  }
}

const TODO: Readonly<Record<SessionLockFailure["obstacle"], string>> = {
  acquisition: "try again in a moment",
  lock: `look at ${SESSION_LOCK_NAME} there, make way for a new one, then try again`,
  folder: "look at that folder's owner, mode and free space, then try again",
};

async function complainUnable(
  { obstacle, because }: SessionLockFailure,
  state: string,
  done: "taken" | "released",
): Promise<ExitStatus> {
  return await complain({
    mode: lockMode.name,
    wrong: `the session lock in ${state} cannot be ${done}: ${because}`,
    untouched: "no other session has lost it",
    todo: TODO[obstacle],
  });
}

async function status(call: Call, request: SessionLockRequest): Promise<ExitStatus> {
  const fact = await observeSession(request.state, request.environment, request.look());
  const owner = ownerShown(fact);
  const report = {
    lock: fact.lockKind,
    pid: fact.holder ?? null,
    holderIsLiveHarness: fact.holderIsHarness,
    owner: owner.kind,
    session: fact.recordedSessionId ?? null,
    saw: owner.saw,
  };
  if (hasFlag(call, "json")) await sayJson(report);
  else await say([inWords(owner, fact.holder)]);
  return EXIT.ok;
}

/** To a person a lock that is not there is free, whatever a hook may make of it. */
function ownerShown(fact: SessionFact): SessionOwner {
  return fact.lockKind === "absent"
    ? { kind: "free", saw: "no session has taken it" }
    : judgeSessionOwner(fact);
}

function inWords(owner: SessionOwner, holder: Pid | undefined): string {
  const pid = holder === undefined ? "" : ` (pid ${holder})`;
  switch (owner.kind) {
    case "ours":
      return `lock: held by this session${pid}`;
    case "foreign":
      return `lock: held by another live session${pid}`;
    case "free":
      return `lock: free - ${owner.saw}`;
    case "stale":
      return `lock: stale - ${owner.saw}`;
    case "undetermined":
      return `lock: cannot be told - ${owner.saw}`;
  }
}
