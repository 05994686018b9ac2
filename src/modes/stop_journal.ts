/** The journal entry of one judged turn end. */

import { judgeScope } from "../decide/scope.ts";
import { harnessByEnvironment } from "../harness/detect.ts";
import { printableWithin } from "../platform/printable.ts";
import { nowMs } from "../platform/clock.ts";
import { appendJournal, hashSession } from "../state/journal.ts";
import type { Call } from "./mode.ts";
import type { JudgedTurnEnd } from "./stop_verdict.ts";

/** Longest fact that enters the journal. */
const FACT_LIMIT = 300;

/**
 * Writes the verdict to the journal of its home.
 *
 * Homes out of scope are not touched at all, whatever decided the verdict.
 */
export async function journalTurnEnd(
  call: Call,
  judged: JudgedTurnEnd,
  harness: string | undefined,
): Promise<void> {
  const { verdict, facts, home, mode } = judged;
  if (judgeScope(await facts("scope")).kind === "out") return;
  const payload = await facts("payload");
  appendJournal(home.state, {
    time: new Date(nowMs()).toISOString(),
    mode: mode === "cursor" ? "stop --cursor" : "stop",
    harness: harness ?? harnessName(call, judged),
    session: await hashSession(payload.kind === "object" ? payload.sessionId : undefined),
    verdict: verdict.kind,
    code: verdict.code,
    facts: Object.fromEntries(
      verdict.steps.map((step) => [step.rule, printableWithin(step.conclusion.saw, FACT_LIMIT)]),
    ),
    ms: nowMs() - call.startedAtMs,
  });
}

/** The harness as far as it is known without looking at processes. */
function harnessName(call: Call, judged: JudgedTurnEnd): string {
  if (judged.mode === "cursor") return "cursor";
  return judged.anchor?.harness ?? harnessByEnvironment(call.environment) ?? "unknown";
}
