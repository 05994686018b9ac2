/** Whether a Cursor park begins at all. Every uncertainty ends in silence: nothing can be blocked. */

import type { ScopeFact } from "../facts.ts";
import { type Ask, type Conclusion, decide, type Rule, rule, type Verdict } from "../rule.ts";
import { judgeScope } from "../scope.ts";
import { judgeSessionOwner, type SessionFact } from "../session_owner.ts";
import { loopCount, type LoopCountField } from "./loop_count.ts";

/** The payload, as far as a park reads it. */
export type ParkPayloadFact =
  | { readonly kind: "empty"; readonly because: string }
  | { readonly kind: "unreadable"; readonly because: string }
  | {
    readonly kind: "object";
    readonly loop: LoopCountField;
    readonly sessionId: string | undefined;
  };

/** Every fact that admission can ask for. */
export interface ParkFacts {
  readonly payload: ParkPayloadFact;
  readonly scope: ScopeFact;
  /** Whether Pi runs this hook, and not a Cursor that Pi started. */
  readonly piHost: boolean;
  readonly session: SessionFact;
}

/** Why a park stands down or goes on. */
export type ParkAdmissionCode =
  | "no-payload"
  | "payload-unreadable"
  | "loop-unreadable"
  | "out-of-scope"
  | "pi-host"
  | "not-our-session"
  /** Go on: the session lock is ours. */
  | "session-ours"
  /** Go on, but take the session lock first: its holder is gone, or it never had one. */
  | "session-stale";

/** The park stands down, or begins. */
export type ParkAdmissionOutcome = "stand-down" | "park";

/** The verdict on admission. */
export type ParkAdmission = Verdict<ParkAdmissionCode, ParkAdmissionOutcome>;

type ParkRule = Rule<ParkFacts, ParkAdmissionCode, ParkAdmissionOutcome>;
type ParkConclusion = Conclusion<ParkAdmissionCode, ParkAdmissionOutcome>;

/** The rules in the order in which they are asked. */
const RULES: readonly ParkRule[] = [
  parkRule(
    "payload",
    "payload",
    "Without a count of follow-ups nothing would end a conversation with itself.",
    judgePayload,
  ),
  parkRule(
    "scope",
    "scope",
    "Only a primary or a secondmate home is supervised from here.",
    (fact) => {
      const scope = judgeScope(fact);
      return scope.kind === "in" ? askOn(scope.because) : standDown("out-of-scope", scope.because);
    },
  ),
  parkRule(
    "pi-host",
    "piHost",
    "Pi also loads Cursor's hooks; its own extensions supervise there.",
    (pi) => pi ? standDown("pi-host", "run by Pi") : askOn("not run by Pi"),
  ),
  parkRule(
    "session",
    "session",
    "Only the session that holds the lock is given follow-ups; a holder that is gone is replaced.",
    (fact) => {
      const owner = judgeSessionOwner(fact);
      switch (owner.kind) {
        case "ours":
          return { kind: "park", code: "session-ours", saw: owner.saw };
        case "stale":
        case "free":
          return { kind: "park", code: "session-stale", saw: owner.saw };
        case "foreign":
        case "undetermined":
          return standDown("not-our-session", owner.saw);
      }
    },
  ),
];

/** Decides whether the park begins. */
export async function decideParkAdmission(ask: Ask<ParkFacts>): Promise<ParkAdmission> {
  return await decide(RULES, ask);
}

function judgePayload(payload: ParkPayloadFact): ParkConclusion {
  switch (payload.kind) {
    case "empty":
      return standDown("no-payload", payload.because);
    case "unreadable":
      return standDown("payload-unreadable", payload.because);
    case "object": {
      const count = loopCount(payload.loop);
      return count === undefined
        ? standDown("loop-unreadable", "loop_count is no whole number from 0")
        : askOn(`follow-up ${count} in a row`);
    }
  }
}

function parkRule<Name extends keyof ParkFacts>(
  id: string,
  fact: Name,
  because: string,
  judge: (fact: ParkFacts[Name]) => ParkConclusion,
): ParkRule {
  return rule<ParkFacts, ParkAdmissionCode, Name, ParkAdmissionOutcome>(id, fact, because, judge);
}

function standDown(code: ParkAdmissionCode, saw: string): ParkConclusion {
  return { kind: "stand-down", code, saw };
}

function askOn(saw: string): ParkConclusion {
  return { kind: "ask-on", saw };
}
