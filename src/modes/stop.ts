/** `stop`: the turn-end guard. Allows a turn to end, or blocks it with a banner on standard error. */

import { isCompletePayload } from "../observe/payload.ts";
import { writeTo } from "../platform/output.ts";
import { readStandardInput } from "../platform/stdin.ts";
import { hookHome } from "./call_home.ts";
import { type Call, EXIT, type ExitStatus, type FlagSpec, hasFlag, type ModeSpec } from "./mode.ts";
import { journalTurnEnd } from "./stop_journal.ts";
import { judgeTurnEnd } from "./stop_verdict.ts";

/** Flags that decide which turn end is judged; `explain stop` takes the same. */
export const STOP_FLAGS: readonly FlagSpec[] = [
  { name: "root", value: "DIR", summary: "Root of the home; never taken from the payload." },
  { name: "claude", summary: "Cooperate with Claude's Stop auto-arm; see turnguard help autoarm." },
  { name: "cursor", summary: "Called by the Cursor park: Cursor payloads are judged too." },
  { name: "grok", summary: "Called by Grok: its own payload, and builds that take no verdict." },
  {
    name: "anchor-cwd",
    value: "HARNESS",
    summary: "Guard only sessions that work in the root itself (codex).",
  },
  {
    name: "session-dir",
    value: "DIR",
    mayBeEmpty: true,
    summary: "The session's working directory, for --anchor-cwd.",
  },
];

/** Milliseconds after which a turn is allowed without a verdict; hosts give hooks 30 s and more. */
const DEADLINE_MS = 10_000;

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
  deadlineMs: (call) => DEADLINE_MS + (hasFlag(call, "claude") ? waitMs(call) : 0),
  startsPrograms: true,
  run: stop,
};

/** The time that `--claude` waits for the other hook comes on top. */
function waitMs(call: Pick<Call, "environment">): number {
  return Number(call.environment.get("FM_CLAUDE_AUTOARM_SYNC_WAIT_MS") ?? "") || 0;
}

async function stop(call: Call): Promise<ExitStatus> {
  if (hasFlag(call, "claude")) return await (await import("./stop_claude.ts")).stopClaude(call);
  if (hasFlag(call, "grok")) return await (await import("./stop_grok.ts")).stopGrok(call);
  const input = await readStandardInput(isCompletePayload);
  const judged = await judgeTurnEnd(call, hookHome(call), input);
  if (judged.verdict.kind === "allow") {
    if (!call.deadline.settle()) return EXIT.ok;
    await journalTurnEnd(call, judged, undefined);
    return EXIT.ok;
  }
  // Loaded for a block only: most stops are allowed, and each pays for what it parses.
  const { blockedHarness, turnEndBanner } = await import("./stop_banner.ts");
  const { environment } = call;
  const harness = await blockedHarness(judged, environment);
  const banner = await turnEndBanner({ ...judged, environment, harness, cooperation: undefined });
  if (!call.deadline.settle()) return EXIT.ok;
  await journalTurnEnd(call, judged, harness);
  await writeTo("stderr", banner);
  return EXIT.block;
}
