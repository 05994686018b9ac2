/** The journal entry of a hook that could not judge: it allowed, and this is what is left of why. */

import { judgeScope } from "../decide/scope.ts";
import { harnessByEnvironment } from "../harness/environment_marks.ts";
import { observeScope } from "../observe/scope.ts";
import { nowMs } from "../platform/clock.ts";
import { printableWithin } from "../platform/printable.ts";
import { appendJournal } from "../state/journal.ts";
import { hookHome } from "./call_home.ts";
import type { Call } from "./mode.ts";

/** Why a hook gave no verdict. */
export type HookFailure =
  | { readonly code: "deadline"; readonly because: string }
  | { readonly code: "internal-error"; readonly because: string };

/** Longest reason that is kept. */
const REASON_LIMIT = 300;

/** Writes the entry if the home is in scope. Silent in every case: the hook has allowed already. */
export function journalFailure(call: Call, mode: string, failure: HookFailure): void {
  try {
    const home = hookHome(call);
    if (judgeScope(observeScope(home)).kind === "out") return;
    appendJournal(home.state, {
      time: new Date(nowMs()).toISOString(),
      mode,
      harness: harnessByEnvironment(call.environment) ?? "unknown",
      session: null,
      verdict: "allow",
      code: failure.code,
      facts: { failure: printableWithin(failure.because, REASON_LIMIT) },
      ms: nowMs() - call.startedAtMs,
    });
  } catch {
    // No home, no scope, no room: there is nowhere to write it.
  }
}
