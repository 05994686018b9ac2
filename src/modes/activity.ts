/** `activity`: the hook that records what a session does, for whoever may end it. */

import { activityFolders, sessionFileName, sessionHash } from "../activity/activity_paths.ts";
import { appendDebugLine } from "../activity/debug_log.ts";
import { ownUid } from "../activity/own_uid.ts";
import { type ActivityReading, readActivity } from "../activity/read_activity.ts";
import { fileEvent, recordEvent, sessionOfEnvironment } from "../activity/record_event.ts";
import { formatActivity } from "../decide/activity/format_activity.ts";
import { isFields, parseJson } from "../decide/activity/fields.ts";
import { expiryLimits } from "../decide/activity/limits.ts";
import { ACTIVITY_HOSTS, type ActivityHost } from "../decide/activity/recognise_host.ts";
import { inFlight } from "../decide/activity/session_sets.ts";
import { writeTo } from "../platform/output.ts";
import { printable } from "../platform/printable.ts";
import { readStandardInput } from "../platform/stdin.ts";
import { firstStopSignal } from "../platform/stop_signal.ts";
import { type Call, EXIT, type ExitStatus, flagValue, hasFlag, type ModeSpec } from "./mode.ts";

/**
 * Milliseconds after which the hook gives up. Nothing in it waits but for its input, which has a limit of
 * its own; on a machine where hundreds of hooks start at once, each of them takes seconds.
 */
const DEADLINE_MS = 10_000;

/** What is read of a payload; the rest of a longer one is read and thrown away. */
const INPUT_LIMITS = { maximumBytes: 32 * 1024 * 1024, silenceMs: 700, settleMs: 100 };

/** The mode. */
export const activityMode: ModeSpec = {
  name: "activity",
  kind: "hook",
  summary: "Record a session's tool calls and subagents (a hook), or show them.",
  operands: "[touch | show]",
  maximumOperands: 1,
  flags: [
    {
      name: "host",
      value: "NAME",
      summary: "The harness that calls; otherwise the payload tells.",
      choices: ["auto", ...ACTIVITY_HOSTS],
    },
    {
      name: "activity",
      value: "FILE",
      summary: "The file to use; {hash} stands for the session.",
    },
    {
      name: "event",
      value: "NAME",
      summary: "The event, when the payload names none.",
    },
    { name: "session", value: "ID", summary: "touch, show: the session." },
    { name: "note", value: "TEXT", summary: "touch: what was done." },
    { name: "json", summary: "show: one JSON object." },
  ],
  details: [
    "As a hook it reads one payload on standard input, prints nothing and ends with status 0 " +
    "whatever happens. One command is registered for all events. It stores ids, times and names " +
    "of tools; no prompt, no input and no output of a tool.",
    "touch proves that a session is at work, for scripts and adapters without hooks; show prints " +
    "what is in flight now. Both end with status 1 when they cannot.",
    "TURNGUARD_ACTIVITY_DEBUG=1 adds a line an event to activity-debug.log beside the files.",
  ],
  startsPrograms: true,
  silent: (words) => !words.includes("touch") && !words.includes("show"),
  deadlineMs: (call) => call.operands.length === 0 ? DEADLINE_MS : 60_000,
  run,
};

async function run(call: Call): Promise<ExitStatus> {
  const [operand] = call.operands;
  if (operand === "touch") return await touch(call);
  if (operand === "show") return await show(call);
  await Promise.race([record(call).catch(() => {}), firstStopSignal()]);
  return EXIT.ok;
}

async function record(call: Call): Promise<void> {
  const { environment } = call;
  const host = hostNamed(flagValue(call, "host"));
  const input = await readStandardInput((bytes) => isObject(bytes), INPUT_LIMITS);
  const options = { host, file: flagValue(call, "activity"), event: flagValue(call, "event") };
  if (input.kind === "unusable" && input.because === "too large") {
    const session = sessionOfEnvironment(environment);
    if (session === undefined) return;
    const payload = { session_id: session, hook_event_name: "MessageDisplay" };
    await recordEvent(payload, options, environment);
    return;
  }
  if (input.kind !== "bytes") return;
  const payload = parseJson(new TextDecoder().decode(input.bytes));
  if (!isFields(payload)) return;
  const recorded = await recordEvent(payload, options, environment);
  if (environment.get("TURNGUARD_ACTIVITY_DEBUG") === "1") {
    appendDebugLine(environment, `${host} ${recorded.event ?? "-"} ${recorded.outcome}`);
  }
}

function isObject(bytes: Uint8Array): boolean {
  return bytes.findLast((byte) => byte > 0x20) === 0x7d &&
    isFields(parseJson(new TextDecoder().decode(bytes)));
}

/** A name that nobody knows is as good as none: the payload tells. */
function hostNamed(name: string | undefined): ActivityHost | "auto" {
  return ACTIVITY_HOSTS.find((host) => host === name) ?? "auto";
}

async function touch(call: Call): Promise<ExitStatus> {
  const session = flagValue(call, "session");
  const file = flagValue(call, "activity") ?? call.environment.get("TURNGUARD_ACTIVITY_FILE");
  if (session === undefined && file === undefined) return await complain("touch", NO_TARGET);
  const recorded = await fileEvent(
    {
      event: { name: "Touch", at: Date.now() / 1000, host: "other", session: session ?? "" },
      childSession: undefined,
    },
    flagValue(call, "activity"),
    call.environment,
  );
  if (recorded.outcome === "written" || recorded.outcome === "spooled") return EXIT.ok;
  return await complain("touch", `the activity file cannot be written (${recorded.outcome})`);
}

const NO_TARGET = "say which session: --session ID or --activity FILE";

async function show(call: Call): Promise<ExitStatus> {
  const uid = ownUid();
  const file = await fileToShow(call, uid);
  if (file === undefined || uid === undefined) return await complain("show", NO_TARGET);
  const reading = await readActivity(file, uid, { limits: expiryLimits(call.environment) });
  if (reading.kind !== "state") {
    const because = reading.kind === "absent" ? "there is none" : reading.because;
    return await complain("show", `${printable(file)}: ${printable(because)}`);
  }
  const text = hasFlag(call, "json") ? formatActivity(reading.state) : screen(file, reading);
  await writeTo("stdout", text);
  return EXIT.ok;
}

async function fileToShow(call: Call, uid: number | undefined): Promise<string | undefined> {
  const session = flagValue(call, "session");
  const hash = session === undefined ? undefined : await sessionHash(session);
  const named = flagValue(call, "activity") ?? call.environment.get("TURNGUARD_ACTIVITY_FILE");
  if (named !== undefined && (hash !== undefined || !named.includes("{hash}"))) {
    return named.replaceAll("{hash}", hash ?? "");
  }
  if (hash === undefined) return undefined;
  const files = activityFolders(call.environment, uid)
    .map((place) => `${place.file}/${sessionFileName(hash)}`);
  return files.find(isThere) ?? files[0];
}

function isThere(path: string): boolean {
  try {
    return Deno.lstatSync(path).isFile;
  } catch {
    return false;
  }
}

function screen(file: string, reading: ActivityReading & { readonly kind: "state" }): string {
  const { state } = reading;
  const now = Date.now() / 1000;
  const age = (at: number | null): string => at === null ? "never" : `${ago(now - at)} ago`;
  const lines = [
    ["file", file],
    ["session", `${state.host} ${state.session_id || "-"}`],
    ["turn", state.turn],
    ["progress", `${age(state.progress_at)} (${state.last_event?.name ?? "no event"})`],
    ["calls", `${state.tool_call_count} begun, ${state.tools.size} open`],
    ["agents", String(inFlight(state))],
    ...[...state.agents].map(([key, agent]) => [
      "",
      `${key} ${agent.type || "-"} ${agent.mode}, seen ${age(agent.last_seen_at)}`,
    ]),
  ];
  return lines.map(([name = "", value = ""]) => `${name.padEnd(9)}${printable(value)}\n`).join("");
}

function ago(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  return whole < 120 ? `${whole} s` : `${Math.floor(whole / 60)} min`;
}

async function complain(word: string, because: string): Promise<ExitStatus> {
  await writeTo("stderr", `turnguard activity ${word}: ${because}; nothing was changed\n`);
  return EXIT.failure;
}
