/** `autoarm`: Claude's second Stop hook, which supervises while the session is idle and wakes it. */

import { acquireSessionLock } from "../act/session_lock.ts";
import {
  decideAdmission,
  DEFAULT_HOOK_TIMEOUT_SECONDS,
  hookLifeSeconds,
} from "../decide/autoarm.ts";
import { autoarmGraceSeconds } from "../decide/claude_settings.ts";
import { numberSetting } from "../decide/number.ts";
import { judgeScope } from "../decide/scope.ts";
import { judgeSessionOwner } from "../decide/session_owner.ts";
import { observeAdmission } from "../observe/autoarm.ts";
import { claudeVariables } from "../observe/claude_turn_end.ts";
import type { Home } from "../observe/home.ts";
import { isCompletePayload } from "../observe/payload.ts";
import { observeSession, sessionLockHolder } from "../observe/session.ts";
import { nowMs } from "../platform/clock.ts";
import { type Environment, environmentWith } from "../platform/environment.ts";
import { writeTo } from "../platform/output.ts";
import { type Processes, systemProcesses } from "../platform/processes.ts";
import { readStandardInput } from "../platform/stdin.ts";
import { firstStopSignal } from "../platform/stop_signal.ts";
import { appendJournal, hashSession } from "../state/journal.ts";
import { fire, type Interruption } from "../watch/autoarm.ts";
import { runOwnArm } from "../watch/own_arm.ts";
import { relaySettings } from "../watch/relay_settings.ts";
import { armScript, runArmScript } from "../watch/script_arm.ts";
import { sessionEnd } from "../watch/session_end.ts";
import { hookHome } from "./call_home.ts";
import { type Call, EXIT, type ExitStatus, type ModeSpec } from "./mode.ts";
import { sawByRule } from "./stop_journal.ts";

/** The mode. */
export const autoarmMode: ModeSpec = {
  name: "autoarm",
  kind: "hook",
  summary: "Supervise an idle Claude session and wake it (its asyncRewake Stop hook).",
  flags: [{ name: "root", value: "DIR", summary: "Root of the home." }],
  details: [
    "Exit status 2 wakes the session with what is on standard error; 0 delivers nothing. The hook " +
    "ends by itself before the time its registration gives it (28800 s, or " +
    "TURNGUARD_AUTOARM_MAX_SECONDS) and asks for one turn that arms again.",
  ],
  startsPrograms: true,
  run: autoarm,
};

async function autoarm(call: Call): Promise<ExitStatus> {
  // Listening first: a signal that comes while the hook is still looking around ends it in silence.
  const signal = firstStopSignal();
  const early = signal.then((): Early => "signalled");
  const admission = await Promise.race([early, admit(call)]);
  if (admission === "signalled" || admission === "stand-down") return EXIT.ok;
  const { home } = admission;
  const { environment } = call;
  const variables = claudeVariables(environment);
  const look = () => systemProcesses(environment);
  const graced = environmentWith(environment, {
    ...relaySettings(home.config),
    FM_GUARD_GRACE: String(autoarmGraceSeconds(variables)),
  });
  const end = await fire({
    home,
    variables,
    look,
    trustedSessionId: admission.trustedSessionId,
    ownsSession: async () => await ownsSession(home, environment, look()),
    arm: (stop) => armOnce(home, graced, look, stop),
    interruption: Promise.race([
      signal.then(({ name }): Interruption => ({ kind: "signal", name: shortName(name) })),
      timeLimit(environment),
      sessionEnd(sessionLockHolder(home.state)).then((): Interruption => ({ kind: "session-end" })),
    ]),
    print: async (text) => void await writeTo("stderr", text),
  });
  await journal(call, home, end.delivered ? "rewake" : "silent", end.code, {});
  return end.delivered ? EXIT.block : EXIT.ok;
}

type Early = "signalled" | "stand-down" | Admitted;

interface Admitted {
  readonly home: Home;
  /** Known from admission already; looking at our ancestors again would tell the same. */
  readonly trustedSessionId: string | undefined;
}

/** Everything that is asked before anything is changed. */
async function admit(call: Call): Promise<Early> {
  const input = await readStandardInput(isCompletePayload);
  const home = hookHome(call);
  const { environment } = call;
  const look = () => systemProcesses(environment);
  const facts = observeAdmission({ input, home, environment, processes: look() });
  const admission = await decideAdmission(facts);
  if (judgeScope(await facts("scope")).kind === "in") {
    const payload = await facts("payload");
    const id = payload.kind === "object" ? payload.sessionId : undefined;
    await journal(call, home, admission.kind, admission.code, sawByRule(admission.steps), id);
  }
  if (admission.kind === "stand-down") return "stand-down";
  const { trustedSessionId } = await facts("session");
  if (admission.code === "session-ours") return { home, trustedSessionId };
  const acquired = await acquireSessionLock({ state: home.state, environment, look });
  if (acquired.kind !== "acquired") return "stand-down";
  return await ownsSession(home, environment, look()) ? { home, trustedSessionId } : "stand-down";
}

async function ownsSession(
  home: Home,
  environment: Environment,
  processes: Processes,
): Promise<boolean> {
  const session = await observeSession(home.state, environment, processes);
  return judgeSessionOwner(session).kind === "ours";
}

/** The home's own arm where it brings one, else the watcher in this very process. */
async function armOnce(
  home: Home,
  graced: Graced,
  look: () => Processes,
  stop: Promise<void>,
): ReturnType<typeof runOwnArm> {
  const script = armScript(home.root);
  return script === undefined
    ? await runOwnArm({ home, environment: graced.environment, look, stop })
    : await runArmScript(script, graced.added, stop);
}

type Graced = ReturnType<typeof environmentWith>;

/** Resolves shortly before the host's own timeout. */
function timeLimit(environment: Environment): Promise<Interruption> {
  const timeout = numberSetting(
    environment.get("TURNGUARD_AUTOARM_MAX_SECONDS"),
    "positive-digits",
    DEFAULT_HOOK_TIMEOUT_SECONDS,
  );
  return new Promise((resolve) => {
    const lifeMs = hookLifeSeconds(timeout.value) * 1000;
    setTimeout(() => resolve({ kind: "time-limit" }), Math.min(lifeMs, LONGEST_TIMER_MS));
  });
}

/** A longer timer would overflow and fire at once. */
const LONGEST_TIMER_MS = 2_147_483_647;

function shortName(name: "SIGHUP" | "SIGINT" | "SIGTERM"): "HUP" | "INT" | "TERM" {
  switch (name) {
    case "SIGHUP":
      return "HUP";
    case "SIGINT":
      return "INT";
    case "SIGTERM":
      return "TERM";
  }
}

async function journal(
  call: Call,
  home: Home,
  verdict: string,
  code: string,
  facts: Readonly<Record<string, string>>,
  sessionId?: string,
): Promise<void> {
  appendJournal(home.state, {
    time: new Date(nowMs()).toISOString(),
    mode: "autoarm",
    harness: "claude",
    session: await hashSession(sessionId),
    verdict,
    code,
    facts,
    ms: nowMs() - call.startedAtMs,
  });
}
