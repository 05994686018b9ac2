/** `activity`: the hook that records what a session does, for whoever may end it. */

import { type ProcessTools, recordEvent, sessionOfEnvironment } from "../activity/record_event.ts";
import { isFields, parseJson } from "../decide/activity/fields.ts";
import { ACTIVITY_HOSTS, type ActivityHost } from "../decide/activity/recognise_host.ts";
import { type Environment, processEnvironment } from "../platform/environment.ts";
import { readStandardInput } from "../platform/stdin.ts";
import { firstStopSignal } from "../platform/stop_signal.ts";
import { type Call, EXIT, type ExitStatus, flagValue, type ModeSpec } from "./mode.ts";

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
  if (operand !== undefined) {
    const { activityForPerson } = await import("./activity_person.ts");
    return await activityForPerson(call, operand);
  }
  await recordQuietly({ environment: call.environment, flag: (name) => flagValue(call, name) });
  return EXIT.ok;
}

/**
 * Runs the hook for the words after the mode's name, after which the process ends with status 0;
 * `false`, with nothing done, when they are not those of a hook.
 *
 * It stands before and after every call of a session's tools: the executable comes here without loading
 * anything else.
 */
export async function runActivityHook(words: readonly string[]): Promise<boolean> {
  const flags = hookFlags(words);
  if (flags === undefined) return false;
  const late = new Promise<void>((resolve) => setTimeout(resolve, DEADLINE_MS));
  const call = { environment: processEnvironment(), flag: (name: string) => flags.get(name) };
  await Promise.race([recordQuietly(call), late]);
  return true;
}

const HOOK_FLAGS = ["host", "activity", "event"];

/** The flags of a registered command line; `undefined` for any other one. */
function hookFlags(words: readonly string[]): ReadonlyMap<string, string> | undefined {
  const flags = new Map<string, string>();
  for (let index = 0; index < words.length; index += 2) {
    const name = words[index]?.replace(/^--/, "") ?? "";
    const value = words[index + 1];
    if (!words[index]?.startsWith("--") || !HOOK_FLAGS.includes(name)) return undefined;
    if (value === undefined || value === "" || value.startsWith("-")) return undefined;
    flags.set(name, value);
  }
  return flags;
}

/** What one call of the hook is given. */
interface HookCall {
  readonly environment: Environment;
  readonly flag: (name: string) => string | undefined;
}

/** Whatever happens, a hook's host hears nothing of it. */
async function recordQuietly(call: HookCall): Promise<void> {
  await Promise.race([record(call).catch(() => {}), firstStopSignal()]);
}

async function record({ environment, flag }: HookCall): Promise<void> {
  const host = hostNamed(flag("host"));
  const input = await readStandardInput((bytes) => isObject(bytes), INPUT_LIMITS);
  const tools = async (): Promise<ProcessTools> =>
    (await import("./activity_scope.ts")).processTools(environment);
  const options = { host, file: flag("activity"), event: flag("event") };
  if (input.kind === "unusable" && input.because === "too large") {
    const session = sessionOfEnvironment(environment);
    if (session === undefined) return;
    const payload = { session_id: session, hook_event_name: "MessageDisplay" };
    await recordEvent(payload, options, environment, tools);
    return;
  }
  if (input.kind !== "bytes") return;
  const payload = parseJson(new TextDecoder().decode(input.bytes));
  if (!isFields(payload)) return;
  const recorded = await recordEvent(payload, options, environment, tools);
  if (environment.get("TURNGUARD_ACTIVITY_DEBUG") === "1") {
    const { appendDebugLine } = await import("./activity_extras.ts");
    appendDebugLine(environment, `${host} ${recorded.event ?? "-"} ${recorded.outcome}`);
  }
  if (recorded.event === "SessionStart" && recorded.outcome === "written") {
    const { pruneBeside } = await import("./activity_extras.ts");
    await pruneBeside(recorded.file ?? "", environment);
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
