/** `activity touch` and `activity show`, for people and scripts. */

import { activityFolders, sessionFileName, sessionHash } from "../activity/activity_paths.ts";
import { ownUid } from "../activity/own_uid.ts";
import { type ActivityReading, readActivity } from "../activity/read_activity.ts";
import { fileEvent } from "../activity/record_event.ts";
import { formatActivity } from "../decide/activity/format_activity.ts";
import { expiryLimits } from "../decide/activity/limits.ts";
import { inFlight } from "../decide/activity/session_sets.ts";
import { writeTo } from "../platform/output.ts";
import { printable } from "../platform/printable.ts";
import { processTools } from "./activity_scope.ts";
import { type Call, EXIT, type ExitStatus, flagValue, hasFlag } from "./mode.ts";

/** Does what the word after the mode says. */
export async function activityForPerson(call: Call, word: string): Promise<ExitStatus> {
  if (word === "touch") return await touch(call);
  if (word === "show") return await show(call);
  // A hook's command line that is wrong says nothing.
  return EXIT.ok;
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
    () => Promise.resolve(processTools(call.environment)),
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
