/**
 * What Claude's auto-arm does: whether it arms at all, and what it makes of an arm that ended.
 *
 * It never blocks a stop. Every uncertainty ends in silence, because the guard that runs beside it
 * decides about the turn.
 */

import type { DaemonFact, NeedFact, PayloadFact, ScopeFact } from "./facts.ts";
import { judgeNeed } from "./need.ts";
import { type Ask, type Conclusion, decide, type Rule, rule, type Verdict } from "./rule.ts";
import { judgeScope } from "./scope.ts";
import { judgeSessionOwner, type SessionFact } from "./session_owner.ts";

/** Every fact that admission can ask for. */
export interface AdmissionFacts {
  readonly payload: PayloadFact;
  readonly grokHost: boolean;
  readonly scope: ScopeFact;
  readonly session: SessionFact;
  readonly awayMode: DaemonFact["mode"];
  readonly need: NeedFact;
}

/** Why the auto-arm stands down or goes on. */
export type AdmissionCode =
  | "foreign-host"
  | "pi-code"
  | "out-of-scope"
  | "not-our-session"
  | "away"
  | "no-need"
  | "need-unknown"
  /** Go on: the session lock is ours. */
  | "session-ours"
  /** Go on, but take the session lock first: its holder is gone, or it never had one. */
  | "session-stale";

/** The auto-arm stands down, or arms. */
export type AdmissionOutcome = "stand-down" | "arm";

/** The verdict on admission. */
export type Admission = Verdict<AdmissionCode, AdmissionOutcome>;

type AdmissionRule = Rule<AdmissionFacts, AdmissionCode, AdmissionOutcome>;
type AdmissionConclusion = Conclusion<AdmissionCode, AdmissionOutcome>;

/** The rules in the order in which they are asked. */
const ADMISSION_RULES: readonly AdmissionRule[] = [
  admissionRule(
    "grok",
    "grokHost",
    "Grok also loads Claude's hooks and would wait for this one.",
    (grok) => grok ? standDown("foreign-host", "run by Grok") : askOn("not run by Grok"),
  ),
  admissionRule(
    "host",
    "payload",
    "Cursor runs Claude's hooks synchronously and has its own park.",
    (payload) =>
      payload.kind === "object" && payload.fromCursor
        ? standDown("foreign-host", "sent by Cursor")
        : askOn("not sent by Cursor"),
  ),
  admissionRule(
    "pi-code",
    "payload",
    "Pi's hook compatibility waits for every Stop hook and would be held for hours.",
    (payload) =>
      payload.kind === "object" && payload.fromPiCode
        ? standDown("pi-code", "the transcript lies below .pi")
        : askOn("no transcript of Pi"),
  ),
  admissionRule(
    "scope",
    "scope",
    "Only a primary or a secondmate home is supervised from here.",
    (fact) => {
      const scope = judgeScope(fact);
      return scope.kind === "in" ? askOn(scope.because) : standDown("out-of-scope", scope.because);
    },
  ),
  admissionRule(
    "session",
    "session",
    "Only the session that holds the lock can be woken; a holder that is gone can be replaced.",
    (fact) => {
      const owner = judgeSessionOwner(fact);
      return owner.kind === "ours" || owner.kind === "stale" || owner.kind === "free"
        ? askOn(owner.saw)
        : standDown("not-our-session", owner.saw);
    },
  ),
  admissionRule(
    "away",
    "awayMode",
    "In away or quiet mode the daemon owns supervision.",
    (mode) => mode === "off" ? askOn("away mode is off") : standDown("away", `${mode} mode is on`),
  ),
  admissionRule(
    "need",
    "need",
    "Where nothing runs in the background, nothing can be lost.",
    (fact) => {
      const need = judgeNeed(fact);
      if (need.kind === "needed") return askOn(need.what);
      return need.kind === "none"
        ? standDown("no-need", "no task, source, check or relay")
        : standDown("need-unknown", need.because);
    },
  ),
  admissionRule(
    "takeover",
    "session",
    "An idle or away home keeps even a stale session lock as it is, so this is asked last.",
    (fact) => {
      const owner = judgeSessionOwner(fact);
      return {
        kind: "arm",
        code: owner.kind === "ours" ? "session-ours" : "session-stale",
        saw: owner.saw,
      };
    },
  ),
];

/** Decides whether the auto-arm goes on. */
export async function decideAdmission(ask: Ask<AdmissionFacts>): Promise<Admission> {
  return await decide(ADMISSION_RULES, ask);
}

function admissionRule<Name extends keyof AdmissionFacts>(
  id: string,
  fact: Name,
  because: string,
  judge: (fact: AdmissionFacts[Name]) => AdmissionConclusion,
): AdmissionRule {
  return rule<AdmissionFacts, AdmissionCode, Name, AdmissionOutcome>(id, fact, because, judge);
}

function standDown(code: AdmissionCode, saw: string): AdmissionConclusion {
  return { kind: "stand-down", code, saw };
}

function askOn(saw: string): AdmissionConclusion {
  return { kind: "ask-on", saw };
}

/** What the arms of one firing came to. */
export interface ArmedCycle {
  readonly needed: boolean;
  /** Whether the last arm delivered a wake. */
  readonly actionable: boolean;
  /** Whether a healthy watcher was verified after a close without one. */
  readonly healthy: boolean;
  readonly alarmed: boolean;
  readonly noticed: boolean;
}

/** What is done about it. */
export type Translation =
  /** Nothing is needed any more. */
  | "clean"
  /** Supervision is proven: end the failure episode. */
  | "recovered"
  /** The alarm of this episode was raised: no more continuations until recovery. */
  | "silenced"
  | "rewake"
  | "first-failure"
  | "later-failure";

/** The rows are asked in order; the first whose condition holds says what is done. */
const TRANSLATIONS: readonly (readonly [Translation, (cycle: ArmedCycle) => boolean])[] = [
  ["clean", (cycle) => !cycle.needed],
  ["recovered", (cycle) => cycle.healthy],
  ["silenced", (cycle) => cycle.alarmed],
  ["rewake", (cycle) => cycle.actionable],
  ["first-failure", (cycle) => !cycle.noticed],
  ["later-failure", () => true],
];

/** Reads the table above. */
export function translate(cycle: ArmedCycle): Translation {
  const row = TRANSLATIONS.find(([, applies]) => applies(cycle));
  return row?.[0] ?? "later-failure";
}

/** What an interrupted firing does: silence after an alarm, one notice, then suppressed failures. */
export function translateInterruption(
  episode: Pick<ArmedCycle, "alarmed" | "noticed">,
): "silenced" | "first-failure" | "later-failure" {
  if (episode.alarmed) return "silenced";
  return episode.noticed ? "later-failure" : "first-failure";
}

/** Lines that are worth showing when an arm failed. */
export function isEvidenceLine(line: string): boolean {
  return /^(?:watcher:|signal:|stale:|check:|heartbeat)/.test(line);
}

/** Seconds that the host gives the hook when nothing else is said. */
export const DEFAULT_HOOK_TIMEOUT_SECONDS = 28_800;

/** Seconds before the host's timeout at which the hook ends by itself. */
const TIMEOUT_MARGIN_SECONDS = 60;

/**
 * Seconds after which the hook ends by itself: a host that kills it at its timeout drops the exit
 * status, and the session would sit unsupervised without a word.
 */
export function hookLifeSeconds(timeoutSeconds: number): number {
  return timeoutSeconds - Math.min(TIMEOUT_MARGIN_SECONDS, timeoutSeconds / 10);
}
