/** `park`: Cursor's stop hook, which supervises while the session is idle and wakes it. */

import { acquireSessionLock } from "../act/session_lock.ts";
import { hookLifeSeconds } from "../decide/autoarm.ts";
import { judgeNeed } from "../decide/need.ts";
import { decideParkAdmission } from "../decide/park/admission.ts";
import { budgetSession, loopCount } from "../decide/park/loop_count.ts";
import { parkSettings } from "../decide/park/settings.ts";
import { judgeScope } from "../decide/scope.ts";
import { judgeSessionOwner } from "../decide/session_owner.ts";
import { judgeWatcher } from "../decide/watcher_health.ts";
import { foreignVariables } from "../observe/foreign_environment.ts";
import type { Home } from "../observe/home.ts";
import { homeCommands } from "../observe/home_commands.ts";
import { observeNeed } from "../observe/need.ts";
import { observePark, parkVariables } from "../observe/park.ts";
import { isCompletePayload } from "../observe/payload.ts";
import { observeSession, sessionLockHolder } from "../observe/session.ts";
import { graceVariables } from "../observe/turn_end.ts";
import { observeWatcher } from "../observe/watcher.ts";
import { nowMs } from "../platform/clock.ts";
import { environmentWith } from "../platform/environment.ts";
import { writeTo } from "../platform/output.ts";
import { ownStartMs } from "../platform/own_start.ts";
import type { Pid } from "../platform/pid.ts";
import { type Processes, systemProcesses } from "../platform/processes.ts";
import { readStandardInput, type StandardInput } from "../platform/stdin.ts";
import { firstStopSignal } from "../platform/stop_signal.ts";
import { appendJournal, hashBytes, hashSession } from "../state/journal.ts";
import { park } from "../watch/park/park.ts";
import { parkArm } from "../watch/park/park_arm.ts";
import type { ParkInterruption } from "../watch/park/setup.ts";
import { sessionEnd } from "../watch/session_end.ts";
import { hookHome } from "./call_home.ts";
import { type Call, EXIT, type ExitStatus, flagValue, type ModeSpec } from "./mode.ts";
import { turnEndBanner } from "./stop_banner.ts";
import { sawByRule } from "./stop_journal.ts";
import { judgeTurnEnd } from "./stop_verdict.ts";

/** The mode. */
export const parkMode: ModeSpec = {
  name: "park",
  kind: "hook",
  summary: "Supervise an idle Cursor session and wake it (its stop hook).",
  flags: [{ name: "root", value: "DIR", summary: "Root of the home." }],
  details: [
    "Reads Cursor's stop payload on standard input and stays until there is something to say. What " +
    "it prints then is one JSON object with a followup_message, which Cursor submits as the next " +
    "message; the exit status is 0 in every case. Of several parks of a home the newest waits, the " +
    "others leave.",
    "It ends by itself before the time its registration gives it (28800 s, or " +
    "TURNGUARD_PARK_MAX_SECONDS) and asks for one turn that parks again. After " +
    "FM_CURSOR_TURNEND_LOOP_CEILING follow-ups in a row (180; keep it below the loop_limit of the " +
    "registration) it says so once and rests until somebody writes.",
  ],
  startsPrograms: true,
  run: runPark,
};

async function runPark(call: Call): Promise<ExitStatus> {
  // Listening first: a signal that comes while the hook is still looking around ends it in silence.
  const signal = firstStopSignal();
  const foreign = foreignVariables(call.environment, flagValue(call, "root"));
  const own: Call = {
    ...call,
    environment: environmentWith(call.environment, foreign).environment,
  };
  const admission = await Promise.race([signal.then((): Early => "signalled"), admit(own)]);
  if (admission === "signalled" || admission === "stand-down") return EXIT.ok;
  const { home, input, sessionId } = admission;
  const { environment } = own;
  const settings = parkSettings(parkVariables(environment));
  const look = () => systemProcesses(environment);
  const end = await park({
    ...admission,
    settings,
    commands: homeCommands(home),
    session: budgetSession(sessionId),
    event: {
      hash: await eventHash(input),
      startedAtMs: await ownStartMs(environment, call.startedAtMs),
    },
    ownsSession: () => ownsSession(own, home, look()),
    isWatched: async () =>
      judgeWatcher(await observeWatcher(home, graceVariables(environment), look())).kind ===
        "healthy",
    need: () => judgeNeed(observeNeed(home.state)),
    arm: parkArm({ home, environment, foreign, look, pollMs: settings.pollMs }),
    judge: () => guardBanner(own, home, input),
    interruption: Promise.race([
      signal.then((): ParkInterruption => "signalled"),
      timeLimit(settings.hostSeconds),
      sessionEnd(admission.owner).then((): ParkInterruption => "session-end"),
    ]),
    print: async (answer) => await writeTo("stdout", answer) === "written",
  });
  const spoke = end === "wake" || end === "rearm" || end === "repair" || end === "ceiling";
  await journal(own, home, { verdict: spoke ? "followup" : "silent", code: end, facts: {} });
  return EXIT.ok;
}

type Early = "signalled" | "stand-down" | Admitted;

interface Admitted {
  readonly home: Home;
  readonly input: StandardInput;
  readonly sessionId: string | undefined;
  readonly loopCount: number;
  readonly owner: Pid;
}

/** Everything that is asked before the baton is taken. */
async function admit(call: Call): Promise<Early> {
  const input = await readStandardInput(isCompletePayload);
  const home = hookHome(call);
  const { environment } = call;
  const look = () => systemProcesses(environment);
  const facts = observePark({ input, home, environment, processes: look() });
  const admission = await decideParkAdmission(facts);
  const payload = await facts("payload");
  const sessionId = payload.kind === "object" ? payload.sessionId : undefined;
  if (judgeScope(await facts("scope")).kind === "in") {
    const { kind, code, steps } = admission;
    await journal(call, home, { verdict: kind, code, facts: sawByRule(steps) }, sessionId);
  }
  if (admission.kind === "stand-down" || payload.kind !== "object") return "stand-down";
  if (admission.code === "session-stale") {
    const acquired = await acquireSessionLock({ state: home.state, environment, look });
    if (acquired.kind !== "acquired") return "stand-down";
    if (!await ownsSession(call, home, look())) return "stand-down";
  }
  const owner = sessionLockHolder(home.state);
  const count = loopCount(payload.loop);
  if (owner === undefined || count === undefined) return "stand-down";
  return { home, input, sessionId, loopCount: count, owner };
}

async function ownsSession(call: Call, home: Home, processes: Processes): Promise<boolean> {
  const session = await observeSession(home.state, call.environment, processes);
  return judgeSessionOwner(session).kind === "ours";
}

/** The same bytes at the same time are one event that was delivered twice. */
async function eventHash(input: StandardInput): Promise<string> {
  return await hashBytes(input.kind === "bytes" ? input.bytes : new Uint8Array());
}

/** What `stop --cursor` would say to this stop; `undefined` when it lets the turn end. */
async function guardBanner(
  call: Call,
  home: Home,
  input: StandardInput,
): Promise<string | undefined> {
  const asked: Call = { ...call, flags: new Map([...call.flags, ["cursor", true]]) };
  const judged = await judgeTurnEnd(asked, home, input);
  if (judged.verdict.kind === "allow") return undefined;
  const { environment } = call;
  return await turnEndBanner({ ...judged, environment, harness: "cursor", cooperation: undefined });
}

/** Resolves shortly before the host's own timeout. */
function timeLimit(hostSeconds: number): Promise<ParkInterruption> {
  return new Promise((resolve) => {
    const lifeMs = hookLifeSeconds(hostSeconds) * 1000;
    setTimeout(() => resolve("time-limit"), Math.min(lifeMs, LONGEST_TIMER_MS));
  });
}

/** A longer timer would overflow and fire at once. */
const LONGEST_TIMER_MS = 2_147_483_647;

interface Record {
  readonly verdict: string;
  readonly code: string;
  readonly facts: Readonly<{ [rule: string]: string }>;
}

async function journal(
  call: Call,
  home: Home,
  record: Record,
  sessionId?: string,
): Promise<void> {
  appendJournal(home.state, {
    time: new Date(nowMs()).toISOString(),
    mode: "park",
    harness: "cursor",
    session: await hashSession(sessionId),
    ...record,
    ms: nowMs() - call.startedAtMs,
  });
}
