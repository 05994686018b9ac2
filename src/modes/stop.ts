/** `stop`: the turn-end guard. Allows a turn to end, or blocks it with a banner on standard error. */

import { isCompletePayload } from "../observe/payload.ts";
import { writeTo } from "../platform/output.ts";
import { readStandardInput } from "../platform/stdin.ts";
import { hookHome } from "./call_home.ts";
import { type Call, EXIT, type ExitStatus, type FlagSpec, type ModeSpec } from "./mode.ts";
import { turnEndBanner } from "./stop_banner.ts";
import { journalTurnEnd } from "./stop_journal.ts";
import { judgeTurnEnd } from "./stop_verdict.ts";

/** Flags that decide which turn end is judged; `explain stop` takes the same. */
export const STOP_FLAGS: readonly FlagSpec[] = [
  { name: "root", value: "DIR", summary: "Root of the home; never taken from the payload." },
  { name: "cursor", summary: "Called by the Cursor park: Cursor payloads are judged too." },
  {
    name: "anchor-cwd",
    value: "HARNESS",
    summary: "Guard only sessions that work in the root itself (codex).",
  },
  {
    name: "session-dir",
    value: "DIR",
    summary: "The session's working directory, for --anchor-cwd.",
  },
];

/** The mode. */
export const stopMode: ModeSpec = {
  name: "stop",
  kind: "hook",
  summary: "Guard the end of a turn: allow it, or block it with a banner.",
  flags: STOP_FLAGS,
  details: [
    "Reads the harness's Stop payload on standard input. Exit status 0 lets the turn end, 2 " +
    "blocks it; the banner on standard error says what runs unsupervised and how to repair it.",
    "Everything that cannot be judged is allowed: an unreadable payload, a home out of scope, a " +
    "state directory that cannot be listed.",
  ],
  deadlineMs: 10_000,
  startsPrograms: true,
  run: stop,
};

async function stop(call: Call): Promise<ExitStatus> {
  const input = await readStandardInput(isCompletePayload);
  const judged = await judgeTurnEnd(call, hookHome(call), input);
  if (judged.verdict.kind === "allow") {
    await journalTurnEnd(call, judged, undefined);
    return EXIT.ok;
  }
  const banner = await turnEndBanner(judged, call.environment);
  await journalTurnEnd(call, judged, banner.harness);
  await writeTo("stderr", banner.text);
  return EXIT.block;
}
