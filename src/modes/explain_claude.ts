/** The explanation of `stop --claude`: its rules, the claim, and what this stop would be charged. */

import { Accountant, storedBudget } from "../act/accountant.ts";
import { observeRecovery } from "../act/cooperate.ts";
import { type Accounted, mayRaiseAlarm } from "../decide/budget.ts";
import { judgeClaim } from "../decide/claim.ts";
import { blockBudget, guardClaimGraceSeconds } from "../decide/claude_settings.ts";
import { decideClaudeTurnEnd } from "../decide/claude_turn_end.ts";
import type { Recovery } from "../decide/recovery.ts";
import { describeMalformed, malformedSettings } from "../decide/settings.ts";
import { COOPERATION_LINE } from "../harness/claude_texts.ts";
import { observeClaim } from "../observe/claim.ts";
import { claudeVariables } from "../observe/claude_turn_end.ts";
import { observeAwayMode } from "../observe/daemon.ts";
import type { Home } from "../observe/home.ts";
import { graceVariables } from "../observe/turn_end.ts";
import { systemProcesses } from "../platform/processes.ts";
import type { StandardInput } from "../platform/stdin.ts";
import { alarmExists, noticeExists } from "../state/failure_episode.ts";
import { turnMeaning } from "./explain_stop.ts";
import type { Explanation } from "./explanation.ts";
import { chargedSession, claudeStopFacts } from "./claude_stop_facts.ts";
import { type Call, EXIT } from "./mode.ts";
import { turnEndBanner } from "./stop_banner.ts";

/** Judges the stop as the guard would at its first look, without waiting and without charging. */
export async function explainClaudeStop(
  call: Call,
  home: Home,
  input: StandardInput,
): Promise<Omit<Explanation, "payload">> {
  const { environment } = call;
  const facts = claudeStopFacts(call, home, input);
  const entry = await decideClaudeTurnEnd(facts);
  const payload = await facts("payload");
  const sessionId = chargedSession(payload);
  const end = entry.kind === "allow"
    ? { blocked: false, code: entry.code, details: {} }
    : await explainCooperation(call, home, sessionId);
  return {
    mode: "stop --claude",
    verdict: end.blocked ? "block" : "allow",
    code: end.code,
    exit: end.blocked ? EXIT.block : EXIT.ok,
    meaning: turnMeaning(end.blocked),
    home,
    steps: entry.steps,
    details: end.details,
    notices: malformedSettings(graceVariables(environment)).map(describeMalformed),
    told: end.blocked
      ? await turnEndBanner({
        facts,
        home,
        environment,
        harness: "claude",
        cooperation: COOPERATION_LINE,
      })
      : undefined,
  };
}

interface CooperationEnd {
  readonly blocked: boolean;
  readonly code: string;
  readonly details: Readonly<Record<string, string>>;
}

async function explainCooperation(
  call: Call,
  home: Home,
  sessionId: string,
): Promise<CooperationEnd> {
  const { state } = home;
  const variables = claudeVariables(call.environment);
  const look = () => systemProcesses(call.environment);
  const accountant = new Accountant({
    state,
    sessionId,
    event: "",
    startedAtMs: call.startedAtMs,
  });
  const recovery = await observeRecovery({ home, variables, sessionId, accountant, look });
  const claim = await observeClaim(state, look());
  const budget = blockBudget(variables);
  const charge = accountant.preview("block");
  const raisesAlarm = mayRaiseAlarm(
    {
      away: observeAwayMode(state) !== "off",
      noticed: noticeExists(state),
      alarmed: alarmExists(state),
      outcome: claim.glance.outcome,
    },
    charge.budget.count,
    budget,
  );
  const details = {
    ledger: `epoch ${claim.glance.epoch || "none"}, outcome ${claim.glance.outcome || "none"}` +
      (claim.ageSeconds === undefined ? "" : `, ${claim.ageSeconds} s old`),
    claim: describeClaim(judgeClaim(claim, guardClaimGraceSeconds(variables))),
    episode: describeEpisode(state),
    budget: describeBudget(state, sessionId, budget),
  };
  return conclude(recovery, accountant.preview("observe"), charge, raisesAlarm, details);
}

function conclude(
  recovery: Recovery,
  observed: Accounted,
  charge: Accounted,
  raisesAlarm: boolean,
  details: Readonly<Record<string, string>>,
): CooperationEnd {
  if (recovery.kind === "supervised") return allowed("recovered", details, "nothing");
  if (recovery.kind === "owned") {
    return allowed(recovery.because, details, recovery.observe ? counted(observed) : "nothing");
  }
  if (recovery.kind === "first-failure" && observed.openedByFailure) {
    return allowed("first-failure", details, counted(observed));
  }
  const charged = { ...details, charge: counted(charge) };
  return raisesAlarm
    ? { blocked: false, code: "alarm", details: charged }
    : { blocked: true, code: "unsupervised", details: charged };
}

function allowed(
  code: string,
  details: Readonly<Record<string, string>>,
  charge: string,
): CooperationEnd {
  return { blocked: false, code, details: { ...details, charge } };
}

function counted({ charged, budget }: Accounted): string {
  return charged ? `one block: the count would be ${budget.count}` : "nothing";
}

function describeClaim(claim: ReturnType<typeof judgeClaim>): string {
  return claim.kind === "open" ? `open: ${claim.saw}` : `${claim.because}: ${claim.saw}`;
}

function describeEpisode(state: string): string {
  if (alarmExists(state)) return "failure notice delivered, alarm raised";
  return noticeExists(state) ? "failure notice delivered" : "none";
}

function describeBudget(state: string, sessionId: string, budget: number): string {
  const stored = storedBudget(state);
  if (stored === undefined) return `no count yet; the alarm may come above ${budget}`;
  const whose = stored.session === sessionId ? "this session" : "another session";
  return `${stored.count} counted for ${whose}; the alarm may come above ${budget}`;
}
