/** `lock`: the session lock, which names the one session that may supervise a home. */

import {
  acquireSessionLock,
  releaseSessionLock,
  type SessionLockOutcome,
  type SessionLockRequest,
} from "../act/session_lock.ts";
import { judgeSessionOwner, type SessionFact, type SessionOwner } from "../decide/session_owner.ts";
import { observeSession } from "../observe/session.ts";
import { writeTo } from "../platform/output.ts";
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
      return await release(request);
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
      const session = outcome.sessionId === undefined ? "" : `, session ${outcome.sessionId}`;
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
      return await complain({
        mode: lockMode.name,
        wrong: `the session lock in ${state} cannot be taken: ${outcome.because}`,
        untouched: "the lock that is there is as it was",
        todo: "look at that folder's owner and mode, then try again",
      });
  }
}

async function release(request: SessionLockRequest): Promise<ExitStatus> {
  switch (await releaseSessionLock(request)) {
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
      return await complain({
        mode: lockMode.name,
        wrong: "another acquisition of the session lock does not end",
        untouched: "the lock is as it was",
        todo: "try again in a moment",
      });
  }
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
  else await say([inWords(owner)]);
  return EXIT.ok;
}

/** To a person a lock that is not there is free, whatever a hook may make of it. */
function ownerShown(fact: SessionFact): SessionOwner {
  return fact.lockKind === "absent"
    ? { kind: "free", saw: "no session has taken it" }
    : judgeSessionOwner(fact);
}

function inWords(owner: SessionOwner): string {
  switch (owner.kind) {
    case "ours":
    case "foreign":
      return `lock: ${owner.saw}`;
    case "free":
      return `lock: free - ${owner.saw}`;
    case "stale":
      return `lock: stale - ${owner.saw}`;
    case "undetermined":
      return `lock: cannot be told - ${owner.saw}`;
  }
}
