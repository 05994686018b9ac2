/**
 * When a turn must not end: the rules of `stop`, in the order in which they are asked.
 *
 * A turn may end unless all of this is true: the payload can be read and is a first stop, the session
 * belongs to a primary home, something needs supervision, and nothing proves that it has it.
 */

import { judgeDaemon } from "./away_daemon.ts";
import type {
  DaemonFact,
  NeedFact,
  PayloadFact,
  ScopeFact,
  SessionDirectoryFact,
  TurnEndFacts,
  WatcherFact,
} from "./facts.ts";
import { judgeNeed } from "./need.ts";
import { type Conclusion, decide, type Rule, rule, type Verdict } from "./rule.ts";
import { judgeScope } from "./scope.ts";
import { judgeWatcher } from "./watcher_health.ts";

/** Why a turn may or may not end. One word each, the same in the journal and everywhere else. */
export type TurnEndCode =
  | "no-payload"
  | "payload-unreadable"
  | "foreign-host"
  | "loop-guard-unreadable"
  | "already-continued"
  | "session-elsewhere"
  | "out-of-scope"
  | "no-need"
  | "need-unknown"
  | "watcher-healthy"
  | "daemon-owns"
  | "unsupervised";

/** Who calls: any harness, or the Cursor park that stands behind its own adapter. */
export type TurnEndMode = "default" | "cursor";

/** A verdict on one turn end. */
export type TurnEndVerdict = Verdict<TurnEndCode>;

/** One rule of a turn end. */
export type TurnEndRule = Rule<TurnEndFacts, TurnEndCode>;

/** See `because`. */
export const READABLE_PAYLOAD: TurnEndRule = turnEndRule(
  "payload",
  "payload",
  "Without a payload nobody knows whether this stop was already continued once.",
  judgePayload,
);

/** See `because`. */
export const OWN_HOST: TurnEndRule = turnEndRule(
  "host",
  "payload",
  "Cursor also loads other hosts' hooks; its turns are guarded by its own adapter.",
  judgeHost,
);

const FIRST_STOP: TurnEndRule = turnEndRule(
  "continuation",
  "payload",
  "One forced continuation a turn: a second one could go on for ever.",
  judgeContinuation,
);

const SESSION_DIRECTORY: TurnEndRule = turnEndRule(
  "session-directory",
  "sessionDirectory",
  "A session that works elsewhere belongs to another project and cannot repair this home.",
  judgeSessionDirectory,
);

/** See `because`. */
export const PRIMARY_SCOPE: TurnEndRule = turnEndRule(
  "scope",
  "scope",
  "Only a primary or a secondmate home is guarded; a task worktree never is.",
  judgeHomeScope,
);

/** See `because`. */
export const SUPERVISION_NEED: TurnEndRule = turnEndRule(
  "need",
  "need",
  "Where nothing runs in the background, nothing can be lost.",
  judgeSupervisionNeed,
);

/** See `because`. */
export const HEALTHY_WATCHER: TurnEndRule = turnEndRule(
  "watcher",
  "watcher",
  "A live watcher of this home with a fresh beat is the proof of supervision.",
  judgeStrictWatcher,
);

const OWNING_DAEMON: TurnEndRule = turnEndRule(
  "daemon",
  "daemon",
  "In away or quiet mode the daemon supervises; nothing else is left to prove it.",
  judgeOwningDaemon,
);

/** The rules of default mode. */
const DEFAULT_RULES: readonly TurnEndRule[] = [
  READABLE_PAYLOAD,
  OWN_HOST,
  FIRST_STOP,
  SESSION_DIRECTORY,
  PRIMARY_SCOPE,
  SUPERVISION_NEED,
  HEALTHY_WATCHER,
  OWNING_DAEMON,
];

/** The rules of `--cursor`: the park calls for Cursor itself, so the host is not asked. */
const CURSOR_RULES: readonly TurnEndRule[] = DEFAULT_RULES.filter((rule) => rule !== OWN_HOST);

/** Judges one turn end; facts are asked for only while they can still matter. */
export async function decideTurnEnd(
  mode: TurnEndMode,
  ask: <Name extends keyof TurnEndFacts>(name: Name) => Promise<TurnEndFacts[Name]>,
): Promise<TurnEndVerdict> {
  return await decide(mode === "cursor" ? CURSOR_RULES : DEFAULT_RULES, ask);
}

function judgePayload(payload: PayloadFact): Conclusion<TurnEndCode> {
  switch (payload.kind) {
    case "empty":
      return allow("no-payload", payload.because);
    case "unreadable":
      return allow("payload-unreadable", payload.because);
    case "object":
      return askOn("one JSON object");
  }
}

function judgeHost(payload: PayloadFact): Conclusion<TurnEndCode> {
  const foreign = payload.kind === "object" && payload.fromCursor;
  return foreign ? allow("foreign-host", "sent by Cursor") : askOn("not sent by Cursor");
}

function judgeContinuation(payload: PayloadFact): Conclusion<TurnEndCode> {
  if (payload.kind !== "object") return askOn("no object");
  switch (payload.loopGuard.kind) {
    case "first-stop":
      return askOn("first stop of this turn");
    case "continuation":
      return allow("already-continued", "this stop follows a forced continuation");
    case "wrong-type":
      return allow("loop-guard-unreadable", `${payload.loopGuard.field} is not a boolean`);
  }
}

function judgeSessionDirectory(fact: SessionDirectoryFact): Conclusion<TurnEndCode> {
  switch (fact.kind) {
    case "elsewhere":
      return allow("session-elsewhere", fact.because);
    case "at-root":
      return askOn("the session works in the root");
    case "not-anchored":
      return askOn("the registration is not tied to a directory");
    case "unknown":
      return askOn("the session's directory cannot be named");
  }
}

function judgeHomeScope(fact: ScopeFact): Conclusion<TurnEndCode> {
  const scope = judgeScope(fact);
  return scope.kind === "in" ? askOn(scope.because) : allow("out-of-scope", scope.because);
}

function judgeSupervisionNeed(fact: NeedFact): Conclusion<TurnEndCode> {
  const need = judgeNeed(fact);
  switch (need.kind) {
    case "none":
      return allow("no-need", "no task, source, check or relay");
    case "unknown":
      return allow("need-unknown", need.because);
    case "needed":
      return askOn(need.what);
  }
}

function judgeStrictWatcher(fact: WatcherFact): Conclusion<TurnEndCode> {
  const health = judgeWatcher(fact);
  if (health.kind === "healthy") return allow("watcher-healthy", health.saw);
  return askOn(`${health.because}: ${health.saw}`);
}

function judgeOwningDaemon(fact: DaemonFact): Conclusion<TurnEndCode> {
  const ownership = judgeDaemon(fact);
  if (ownership.kind === "owns") return allow("daemon-owns", ownership.saw);
  return { kind: "block", code: "unsupervised", saw: ownership.saw };
}

function turnEndRule<Name extends keyof TurnEndFacts>(
  id: string,
  fact: Name,
  because: string,
  judge: (fact: TurnEndFacts[Name]) => Conclusion<TurnEndCode>,
): TurnEndRule {
  return rule<TurnEndFacts, TurnEndCode, Name>(id, fact, because, judge);
}

function allow(code: TurnEndCode, saw: string): Conclusion<TurnEndCode> {
  return { kind: "allow", code, saw };
}

function askOn(saw: string): Conclusion<TurnEndCode> {
  return { kind: "ask-on", saw };
}
