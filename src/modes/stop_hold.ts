/** `stop-hold`: keeps a headless session from leaving while its background agents work. */

import { activityFolders, sessionFileName, sessionHash } from "../activity/activity_paths.ts";
import { ownUid } from "../activity/own_uid.ts";
import { putFile } from "../activity/put_file.ts";
import { readActivity } from "../activity/read_activity.ts";
import { readSafely } from "../activity/safe_file.ts";
import { fieldsOf, isFields, numberOf, parseJson, textOf } from "../decide/activity/fields.ts";
import { expiryLimits } from "../decide/activity/limits.ts";
import { recogniseHost } from "../decide/activity/recognise_host.ts";
import { inFlight } from "../decide/activity/session_sets.ts";
import { judgeScope } from "../decide/scope.ts";
import { observeScope } from "../observe/scope.ts";
import { isCompletePayload } from "../observe/payload.ts";
import { writeTo } from "../platform/output.ts";
import { readStandardInput } from "../platform/stdin.ts";
import { hookHome } from "./call_home.ts";
import { type Call, EXIT, type ExitStatus, flagValue, type ModeSpec } from "./mode.ts";

/** Milliseconds after which the turn may end. */
const DEADLINE_MS = 5_000;

/** The most holds in a row: below the number after which Claude Code lets a turn end by itself. */
const MOST = 3;

/** Statuses of a task that is over. */
const OVER = /^(?:completed|failed|cancelled|canceled|killed|stopped|done|error)$/;

/** Kinds of tasks that are subagents. */
const AGENTS = /^(?:subagent|teammate|workflow|cloud session)$/;

/** The mode. */
export const stopHoldMode: ModeSpec = {
  name: "stop-hold",
  kind: "hook",
  summary: "Hold a headless session's turn while its background agents work.",
  flags: [
    { name: "root", value: "DIR", summary: "Root of the home; in one this does nothing." },
    { name: "max", value: "N", summary: "Holds in a row, 1 to 3 (1)." },
    { name: "activity", value: "FILE", summary: "The session's activity file." },
  ],
  details: [
    "For the Stop event of a headless Claude Code session outside of a home, which may end its " +
    "agents when it leaves. It is never registered by itself. While agents run in the background " +
    "it ends with status 2 and one sentence, at most N times in a row; another call of a tool " +
    "begins the count anew.",
  ],
  startsPrograms: false,
  deadlineMs: () => DEADLINE_MS,
  run: stopHold,
};

async function stopHold(call: Call): Promise<ExitStatus> {
  const input = await readStandardInput(isCompletePayload);
  const payload = input.kind === "bytes"
    ? parseJson(new TextDecoder().decode(input.bytes))
    : undefined;
  if (!isFields(payload) || recogniseHost(payload, "claude", false) === undefined) return EXIT.ok;
  const session = textOf(payload["session_id"]);
  const uid = ownUid();
  if (session === undefined || uid === undefined || isInHome(call)) return EXIT.ok;
  const file = await activityFile(call, session, uid);
  const reading = await readActivity(file, uid, { limits: expiryLimits(call.environment) });
  const state = reading.kind === "state" ? reading.state : undefined;
  const reported = liveAgents(payload["background_tasks"]);
  const running = reported ?? (state === undefined ? 0 : inFlight(state));
  if (running === 0) return EXIT.ok;
  const calls = state?.tool_call_count ?? 0;
  const held = heldBefore(`${file}.stophold`, uid, session, calls);
  if (held >= mostOf(call)) return EXIT.ok;
  try {
    putFile(`${file}.stophold`, `${JSON.stringify({ session, calls, held: held + 1 })}\n`);
  } catch {
    // A count that cannot be kept could hold for ever.
    return EXIT.ok;
  }
  call.deadline.settle();
  await writeTo(
    "stderr",
    `${running} background agent(s) are still at work and would end with this session: wait for ` +
      "their reports before you end your turn.\n",
  );
  return EXIT.block;
}

function isInHome(call: Call): boolean {
  return judgeScope(observeScope(hookHome(call))).kind !== "out";
}

function mostOf(call: Call): number {
  const text = flagValue(call, "max") ?? "1";
  return /^[1-3]$/.test(text) ? Number(text) : Math.min(1, MOST);
}

/** Live agents of the harness's own list; `undefined` when the payload has none. */
function liveAgents(value: unknown): number | undefined {
  if (!Array.isArray(value)) return undefined;
  const items: readonly unknown[] = value;
  return items.map(fieldsOf).filter(({ type, status }) =>
    AGENTS.test(textOf(type) ?? "") && !OVER.test(textOf(status) ?? "")
  ).length;
}

function heldBefore(path: string, uid: number, session: string, calls: number): number {
  const content = readSafely(path, uid);
  if (content.kind !== "text") return 0;
  const fields = fieldsOf(parseJson(content.text));
  const isSame = fields["session"] === session && numberOf(fields["calls"]) === calls;
  return isSame ? numberOf(fields["held"]) ?? 0 : 0;
}

async function activityFile(call: Call, session: string, uid: number): Promise<string> {
  const named = flagValue(call, "activity") ?? call.environment.get("TURNGUARD_ACTIVITY_FILE");
  if (named?.startsWith("/") === true) return named;
  const name = sessionFileName(await sessionHash(session));
  const files = activityFolders(call.environment, uid).map(({ file }) => `${file}/${name}`);
  return files.find((path) => readSafely(path, uid).kind === "text") ?? files[0] ?? `/${name}`;
}
