/** `stop --claude`: the guard that shares every Claude stop with the auto-arm. */

import { Accountant } from "../act/accountant.ts";
import { readBusyPointer, writeBusyRecord } from "../act/busy_record.ts";
import { cooperate, type Cooperation } from "../act/cooperate.ts";
import { budgetLockPath, endEpisodeShared, forgetCount } from "../act/episode.ts";
import { type ClaudeFacts, decideClaudeTurnEnd } from "../decide/claude_turn_end.ts";
import { judgeScope } from "../decide/scope.ts";
import { judgeSessionOwner } from "../decide/session_owner.ts";
import {
  alarmMessage,
  COOPERATION_LINE,
  foreignOwnerMessage,
  unrecordedRecovery,
} from "../harness/claude_texts.ts";
import { claudeVariables } from "../observe/claude_turn_end.ts";
import type { Home } from "../observe/home.ts";
import { isCompletePayload } from "../observe/payload.ts";
import type { Ask } from "../decide/rule.ts";
import { writeTo } from "../platform/output.ts";
import { ownStartMs } from "../platform/own_start.ts";
import { systemProcesses } from "../platform/processes.ts";
import { readStandardInput, type StandardInput } from "../platform/stdin.ts";
import { BUDGET_NAME } from "../state/claude_budget.ts";
import { ALARM_NAME, NOTICE_NAME } from "../state/failure_episode.ts";
import { hashBytes, hashSession } from "../state/journal.ts";
import { hookHome } from "./call_home.ts";
import { chargedSession, claudeStopFacts } from "./claude_stop_facts.ts";
import { type Call, EXIT, type ExitStatus } from "./mode.ts";
import { needInWords, turnEndBanner } from "./stop_banner.ts";
import { journalRecord, sawByRule } from "./stop_journal.ts";

/** What a Claude turn end comes to. */
interface ClaudeOutcome {
  readonly verdict: "allow" | "block";
  readonly code: string;
  readonly stdout: string;
  readonly stderr: string;
}

/** Judges one Claude stop, acts, and returns its exit status. */
export async function stopClaude(call: Call): Promise<ExitStatus> {
  const input = await readStandardInput(isCompletePayload);
  const home = hookHome(call);
  const facts = claudeStopFacts(call, home, input);
  const entry = await decideClaudeTurnEnd(facts);
  const stop: ClaudeStop = { call, home, input, facts };
  const outcome = await actOn(entry.code, stop);
  if (!call.deadline.settle()) return EXIT.ok;
  await journalRecord(call, {
    facts,
    home,
    mode: "stop --claude",
    harness: "claude",
    verdict: outcome.verdict,
    code: outcome.code,
    saw: sawByRule(entry.steps),
  });
  // Claude reads standard output on every exit status, so at most one stream carries text.
  await writeTo("stdout", outcome.stdout);
  await writeTo("stderr", outcome.stderr);
  await recordBusy(stop, outcome);
  return outcome.verdict === "block" ? EXIT.block : EXIT.ok;
}

interface ClaudeStop {
  readonly call: Call;
  readonly home: Home;
  readonly input: StandardInput;
  readonly facts: Ask<ClaudeFacts>;
}

type EntryCode = Awaited<ReturnType<typeof decideClaudeTurnEnd>>["code"];

async function actOn(code: EntryCode, stop: ClaudeStop): Promise<ClaudeOutcome> {
  switch (code) {
    case "no-need":
      forgetCount(stop.home.state);
      return allow(code);
    case "watcher-healthy":
    case "daemon-owns":
      return await endEpisodeShared(stop.home.state)
        ? allow(code)
        : recoveryNotRecorded(stop.home.state);
    case "foreign-owner": {
      const owner = judgeSessionOwner(await stop.facts("session"));
      return allow(code, owner.kind === "foreign" ? foreignOwnerMessage(owner.pid) : "");
    }
    case "unsupervised":
      return await concludeCooperation(stop, await cooperateOn(stop));
    default:
      return allow(code);
  }
}

async function cooperateOn(stop: ClaudeStop): Promise<Cooperation> {
  const { call, home, input, facts } = stop;
  const payload = await facts("payload");
  const sessionId = chargedSession(payload);
  // Begun before the wait: the answer to a claim is to be given at once.
  if (payload.kind === "object") void hashSession(payload.sessionId);
  const bytes = input.kind === "bytes" ? input.bytes : new Uint8Array();
  return await cooperate({
    home,
    variables: claudeVariables(call.environment),
    sessionId,
    accountant: new Accountant({
      state: home.state,
      sessionId,
      event: await hashBytes(bytes),
      startedAtMs: await ownStartMs(call.environment, call.startedAtMs),
    }),
    look: () => systemProcesses(call.environment),
  });
}

async function concludeCooperation(
  stop: ClaudeStop,
  cooperation: Cooperation,
): Promise<ClaudeOutcome> {
  switch (cooperation.kind) {
    case "allow":
      return allow(cooperation.because);
    case "recovery-not-recorded":
      return recoveryNotRecorded(stop.home.state);
    case "alarm":
      return allow("alarm", alarmMessage(alarmNeed(await needInWords(stop.facts))));
    case "block":
      return block("unsupervised", await banner(stop));
  }
}

/** The relay has other words in the alarm than in the banner. */
function alarmNeed(need: string): string {
  return need === "X-mode relay polling needs supervision" ? "X-mode relay polling active" : need;
}

async function banner({ call, home, facts }: ClaudeStop): Promise<string> {
  return await turnEndBanner({
    facts,
    home,
    environment: call.environment,
    harness: "claude",
    cooperation: COOPERATION_LINE,
  });
}

function recoveryNotRecorded(state: string): ClaudeOutcome {
  const files = [BUDGET_NAME, NOTICE_NAME, ALARM_NAME].map((name) => `${state}/${name}`);
  return block("recovery-not-recorded", unrecordedRecovery([budgetLockPath(state), ...files]));
}

function allow(code: string, stdout = ""): ClaudeOutcome {
  return { verdict: "allow", code, stdout, stderr: "" };
}

function block(code: string, stderr: string): ClaudeOutcome {
  return { verdict: "block", code, stdout: "", stderr };
}

/** Milliseconds that the record may take; it must never hold up a verdict that is already given. */
const BUSY_LIMIT_MS = 2_500;

/** The guard is the only writer of a secondmate's record, for every stop that it was in scope for. */
async function recordBusy(stop: ClaudeStop, outcome: ClaudeOutcome): Promise<void> {
  const payload = await stop.facts("payload");
  const judged = payload.kind === "object" && !payload.fromCursor &&
    payload.loopGuard.kind !== "wrong-type" && !await stop.facts("grokHost");
  if (!judged || judgeScope(await stop.facts("scope")).kind === "out") return;
  const pointer = readBusyPointer(stop.home.root);
  if (pointer === undefined) return;
  let timer: number | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, BUSY_LIMIT_MS);
  });
  await Promise.race([
    writeBusyRecord(pointer, outcome.verdict === "block" ? "busy" : "idle"),
    limit,
  ]);
  clearTimeout(timer);
}
