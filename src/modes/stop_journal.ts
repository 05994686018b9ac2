/** The journal entry of one judged turn end. */

import { judgeScope } from "../decide/scope.ts";
import { harnessByEnvironment } from "../harness/environment_marks.ts";
import { printableWithin } from "../platform/printable.ts";
import type { Home } from "../observe/home.ts";
import type { TurnEndObserver } from "../observe/turn_end.ts";
import { nowMs } from "../platform/clock.ts";
import { appendJournal, hashSession } from "../state/journal.ts";
import type { Call } from "./mode.ts";
import type { JudgedTurnEnd } from "./stop_verdict.ts";

/** Longest fact that enters the journal. */
const FACT_LIMIT = 300;

/** One verdict on a turn end, as the journal keeps it. */
export interface TurnEndRecord {
  readonly facts: TurnEndObserver;
  readonly home: Home;
  readonly mode: string;
  readonly harness: string;
  readonly verdict: "allow" | "block";
  readonly code: string;
  readonly saw: Readonly<Record<string, string>>;
}

/**
 * Writes a verdict to the journal of its home.
 *
 * Homes out of scope are not touched at all, whatever decided the verdict.
 */
export async function journalRecord(call: Call, record: TurnEndRecord): Promise<void> {
  const { facts, home, mode, harness, verdict, code, saw } = record;
  if (judgeScope(await facts("scope")).kind === "out") return;
  const payload = await facts("payload");
  appendJournal(home.state, {
    time: new Date(nowMs()).toISOString(),
    mode,
    harness,
    session: await hashSession(payload.kind === "object" ? payload.sessionId : undefined),
    verdict,
    code,
    facts: saw,
    ms: nowMs() - call.startedAtMs,
  });
}

/** Writes the verdict of default or `--cursor` mode. */
export async function journalTurnEnd(
  call: Call,
  judged: JudgedTurnEnd,
  harness: string | undefined,
): Promise<void> {
  const { verdict, mode } = judged;
  await journalRecord(call, {
    ...judged,
    mode: mode === "cursor" ? "stop --cursor" : "stop",
    harness: harness ?? harnessName(call, judged),
    verdict: verdict.kind,
    code: verdict.code,
    saw: sawByRule(verdict.steps),
  });
}

/** What each rule saw, cut to what a line of the journal can hold. */
export function sawByRule(
  steps: readonly { readonly rule: string; readonly conclusion: { readonly saw: string } }[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    steps.map((step) => [step.rule, printableWithin(step.conclusion.saw, FACT_LIMIT)]),
  );
}

/** The harness as far as it is known without looking at processes. */
function harnessName(call: Call, judged: JudgedTurnEnd): string {
  if (judged.mode === "cursor") return "cursor";
  return judged.anchor?.harness ?? harnessByEnvironment(call.environment) ?? "unknown";
}
