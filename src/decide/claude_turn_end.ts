/**
 * When a Claude turn must not end: the rules of `stop --claude` up to its cooperation.
 *
 * Two hooks run in parallel on every Claude stop. These rules say when the guard need not look at the
 * other one: when it may not judge, when nothing is needed, when supervision is proven, and when this
 * session is not the one that may repair it. A `block` here means: cooperate, then block.
 */

import type { PayloadFact, TurnEndFacts } from "./facts.ts";
import { type Ask, type Conclusion, decide, type Rule, rule, type Verdict } from "./rule.ts";
import { judgeSessionOwner, type SessionFact } from "./session_owner.ts";
import { judgeDaemon } from "./away_daemon.ts";
import {
  HEALTHY_WATCHER,
  OWN_HOST,
  PRIMARY_SCOPE,
  READABLE_PAYLOAD,
  SUPERVISION_NEED,
  type TurnEndCode,
} from "./turn_end.ts";

/** Why a Claude turn may or may not end, before cooperation. */
export type ClaudeEntryCode = TurnEndCode | "foreign-owner";

/** Every fact that the rules can ask for. */
export interface ClaudeFacts extends TurnEndFacts {
  /** Whether Grok runs this hook: it loads Claude's registrations too. */
  readonly grokHost: boolean;
  /** Whether the caller speaks for Cursor (`--cursor` as well): its payloads are judged then. */
  readonly acceptCursor: boolean;
  readonly session: SessionFact;
}

/** A verdict before cooperation. */
export type ClaudeEntryVerdict = Verdict<ClaudeEntryCode>;

type ClaudeRule = Rule<ClaudeFacts, ClaudeEntryCode>;

const NOT_GROK: ClaudeRule = rule<ClaudeFacts, ClaudeEntryCode, "grokHost">(
  "grok",
  "grokHost",
  "Grok also loads Claude's hooks; its turns are guarded by its own registration.",
  (grok) => grok ? allow("foreign-host", "run by Grok") : askOn("not run by Grok"),
);

const TRUSTED_LOOP_GUARD: ClaudeRule = rule<ClaudeFacts, ClaudeEntryCode, "payload">(
  "loop-guard",
  "payload",
  "Its value is ignored, since every rewake sets it, but a wrong type makes the payload unreadable.",
  judgeLoopGuardType,
);

const OWNING_DAEMON: ClaudeRule = rule<ClaudeFacts, ClaudeEntryCode, "daemon">(
  "daemon",
  "daemon",
  "In away or quiet mode the daemon supervises.",
  (fact) => {
    const ownership = judgeDaemon(fact);
    return ownership.kind === "owns" ? allow("daemon-owns", ownership.saw) : askOn(ownership.saw);
  },
);

const OWN_SESSION: ClaudeRule = rule<ClaudeFacts, ClaudeEntryCode, "session">(
  "session",
  "session",
  "A session that may not arm could never satisfy a block; only proof of another owner releases it.",
  (fact) => {
    const owner = judgeSessionOwner(fact);
    return owner.kind === "foreign"
      ? allow("foreign-owner", owner.saw)
      : { kind: "block", code: "unsupervised", saw: owner.saw };
  },
);

/** The rules in the order in which they are asked. */
const CLAUDE_RULES: readonly ClaudeRule[] = [
  READABLE_PAYLOAD,
  OWN_HOST,
  NOT_GROK,
  TRUSTED_LOOP_GUARD,
  PRIMARY_SCOPE,
  SUPERVISION_NEED,
  HEALTHY_WATCHER,
  OWNING_DAEMON,
  OWN_SESSION,
];

/** Judges one Claude turn end up to cooperation. */
export async function decideClaudeTurnEnd(ask: Ask<ClaudeFacts>): Promise<ClaudeEntryVerdict> {
  const rules = await ask("acceptCursor")
    ? CLAUDE_RULES.filter((candidate) => candidate !== OWN_HOST)
    : CLAUDE_RULES;
  return await decide(rules, ask);
}

function judgeLoopGuardType(payload: PayloadFact): Conclusion<ClaudeEntryCode> {
  if (payload.kind === "object" && payload.loopGuard.kind === "wrong-type") {
    return allow("loop-guard-unreadable", `${payload.loopGuard.field} is not a boolean`);
  }
  return askOn("absent or a boolean, which is ignored");
}

function allow(code: ClaudeEntryCode, saw: string): Conclusion<ClaudeEntryCode> {
  return { kind: "allow", code, saw };
}

function askOn(saw: string): Conclusion<ClaudeEntryCode> {
  return { kind: "ask-on", saw };
}
