/** `record`: notes that a turn ended without its stop hook. */

import { followsJudgedEnd, RECORD_MODE, UNJUDGED } from "../decide/blind_end.ts";
import { judgeScope } from "../decide/scope.ts";
import { isCompletePayload, readPayload } from "../observe/payload.ts";
import { observeScope } from "../observe/scope.ts";
import { nowMs } from "../platform/clock.ts";
import { printableWithin } from "../platform/printable.ts";
import { readStandardInput } from "../platform/stdin.ts";
import { appendJournal, hashSession, readJournal } from "../state/journal.ts";
import { hookHome } from "./call_home.ts";
import { type Call, EXIT, type ExitStatus, type ModeSpec } from "./mode.ts";

/** Milliseconds after which the hook gives up. */
const DEADLINE_MS = 2_000;

/** Characters of a harness's words that are kept. */
const REASON_LIMIT = 80;

/** The mode. */
export const recordMode: ModeSpec = {
  name: "record",
  kind: "hook",
  summary: "Note a turn that ended without its stop hook (a hook).",
  flags: [{ name: "root", value: "DIR", summary: "Root of the home." }],
  details: [
    "Reads one payload on standard input, says nothing and ends with status 0. An API error " +
    "(StopFailure) and an idle session whose last turn end nobody judged (Notification with " +
    "idle_prompt, as after an interrupt) become a line in the home's journal. status, warn and " +
    "the deadman tell of it until a turn end is judged again.",
  ],
  startsPrograms: false,
  silent: () => true,
  deadlineMs: () => DEADLINE_MS,
  run: record,
};

async function record(call: Call): Promise<ExitStatus> {
  const payload = readPayload(await readStandardInput(isCompletePayload));
  if (payload.kind !== "object") return EXIT.ok;
  const home = hookHome(call);
  if (judgeScope(observeScope(home)).kind === "out") return EXIT.ok;
  const { session_id } = payload.fields;
  const session = await hashSession(typeof session_id === "string" ? session_id : undefined);
  const end = endOf(
    payload.fields,
    () => followsJudgedEnd(readJournal(home.state), session, nowMs(), Date.parse),
  );
  if (end === undefined) return EXIT.ok;
  appendJournal(home.state, {
    time: new Date(nowMs()).toISOString(),
    mode: RECORD_MODE,
    harness: "claude",
    session,
    verdict: UNJUDGED,
    code: end.code,
    facts: { end: end.because },
    ms: nowMs() - call.startedAtMs,
  });
  return EXIT.ok;
}

/** What happened, or nothing that anybody need know. */
function endOf(
  fields: Readonly<Record<string, unknown>>,
  followsJudged: () => boolean,
): { readonly code: string; readonly because: string } | undefined {
  const event = fields["hook_event_name"];
  if (event === "StopFailure") {
    const { error } = fields;
    const words = typeof error === "string" && error !== "" ? error : "unknown";
    return { code: "api-error", because: `API error: ${printableWithin(words, REASON_LIMIT)}` };
  }
  const isIdle = event === "Notification" && fields["notification_type"] === "idle_prompt";
  if (!isIdle || followsJudged()) return undefined;
  return { code: "idle-unjudged", because: "idle after a turn that no stop hook judged" };
}
