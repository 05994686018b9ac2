/** A harness's payload, brought to one event. */

import type {
  ActivityEvent,
  EventName,
  LaunchCall,
  LaunchOutcome,
  TaskReport,
} from "./activity_event.ts";
import { EVENT_NAMES } from "./activity_event.ts";
import type { LaunchMode } from "./activity_state.ts";
import { type Fields, fieldsOf, firstText, isFields, parseJson, textOf } from "./fields.ts";
import type { ActivityHost } from "./recognise_host.ts";
import { isAskingTool, isLaunchTool, isStoppingTool } from "./tool_kinds.ts";

/** What normalising needs besides the payload. */
export interface NormaliseContext {
  readonly host: ActivityHost;
  /** Seconds since the epoch. */
  readonly at: number;
  /** Name of the event when the payload has none. */
  readonly event: string | undefined;
  /** Session id when the payload has none. */
  readonly session: string | undefined;
  /** Further names of launching tools. */
  readonly launchTools: readonly string[];
  /** First 32 hex digits of the SHA-256 of a text. */
  readonly hash: (text: string) => Promise<string>;
}

/** An event before it is known which file it goes to. */
export interface NormalisedEvent {
  readonly event: Omit<ActivityEvent, "sessionKey">;
  /** The session id that a subagent will use itself, when its start tells. */
  readonly childSession: string | undefined;
}

const SESSION = ["session_id", "sessionId", "sessionID", "conversation_id"];
const EVENT = ["hook_event_name", "hookEventName", "event"];
const TOOL = ["tool_name", "toolName", "tool"];
const CALL = [
  "tool_use_id",
  "toolUseId",
  "toolUseID",
  "tool_use_ID",
  "tool_call_id",
  "toolCallId",
  "callID",
  "call_id",
];
const INPUT = ["tool_input", "toolInput", "args"];
const RESULT = ["tool_response", "toolResponse", "tool_output", "toolOutput", "output"];
const AGENT = ["agent_id", "agentId", "subagent_id", "subagentId"];
const AGENT_TYPE = ["agent_type", "agentType", "subagent_type", "subagentType", "agent_name"];
const CHILD_SESSION = ["child_session_id", "childSessionId", "subagentSessionId"];

/** Spellings that are no event's own name without its punctuation. */
const OTHER_SPELLINGS: Readonly<Record<string, EventName>> = {
  beforesubmitprompt: "UserPromptSubmit",
  toolexecutebefore: "PreToolUse",
  toolexecuteafter: "PostToolUse",
  toolexecuteerror: "PostToolUseFailure",
  agentsettled: "Stop",
  sessionstop: "Stop",
  stopcancelled: "StopFailure",
  afteragentresponse: "MessageDisplay",
  afteragentthought: "MessageDisplay",
};

const BY_SPELLING: ReadonlyMap<string, EventName> = new Map([
  ...EVENT_NAMES.filter((name) => name !== "Other" && name !== "Touch")
    .map((name) => [name.toLowerCase(), name] as const),
  ...Object.entries(OTHER_SPELLINGS),
]);

/** Longest name of a tool, a type or a reason that is stored. */
const NAME_LIMIT = 64;

/** Longest path that is stored; longer ones are left out. */
const PATH_LIMIT = 1_024;

/** Most tasks of a report that are looked at. */
const TASK_LIMIT = 512;

const OVER = [
  "completed",
  "failed",
  "cancelled",
  "canceled",
  "killed",
  "stopped",
  "done",
  "error",
];

/**
 * Brings a payload to one event; `undefined` when it names no session.
 *
 * Nothing of a prompt, a tool's input or its output is taken over but ids.
 */
export async function normaliseEvent(
  payload: Fields,
  context: NormaliseContext,
): Promise<NormalisedEvent | undefined> {
  const { host, at, hash } = context;
  const ownSession = sessionOf(payload, host) ?? context.session ??
    textOf(payload["transcript_path"]);
  if (ownSession === undefined) return undefined;
  const keyOf = (id: string | undefined): Promise<string> | undefined =>
    id === undefined ? undefined : eventKey(id, hash);
  const tool = name(firstText(payload, TOOL));
  const input = inputOf(payload);
  const child = isGrokChild(payload, host);
  const spelled = eventName(firstText(payload, EVENT) ?? context.event ?? "");
  const isAgentEvent = spelled === "SubagentStart" || spelled === "SubagentStop";
  const childSession = spelled === "SubagentStart"
    ? firstText(payload, CHILD_SESSION) ??
      (host === "grok" || host === "opencode" ? firstText(payload, AGENT) : undefined)
    : undefined;
  const agentId = child ? ownSession : childSession ?? firstText(payload, AGENT);
  const type = host === "kimi" || isAgentEvent || agentId !== undefined
    ? name(firstText(payload, AGENT_TYPE))
    : undefined;
  const launch = tool !== undefined && isLaunchTool(tool, context.launchTools)
    ? await launchCall(tool, input, payload, context)
    : undefined;
  const stops = tool !== undefined && isStoppingTool(tool)
    ? await Promise.all(stringsIn(input).map((text) => eventKey(text, hash)))
    : undefined;
  const report = await taskReport(payload["background_tasks"], hash);
  const crons = payload["session_crons"] ?? payload["sessionCrons"];
  return {
    event: defined({
      name: child && spelled === "SessionEnd" ? "SubagentStop" : spelled,
      at,
      host,
      session: ownSession,
      agent: await keyOf(agentId),
      agentType: type,
      tool,
      call: await keyOf(firstText(payload, CALL)),
      launch,
      stops,
      asks: tool !== undefined && isAskingTool(tool) ? true as const : undefined,
      source: name(textOf(payload["source"])),
      reason: name(textOf(payload["reason"])),
      notification: name(textOf(payload["notification_type"])),
      teammate: name(textOf(payload["teammate_name"])),
      report,
      crons: Array.isArray(crons) ? crons.length : undefined,
      cwd: path(firstText(payload, ["cwd", "workspaceRoot"]) ?? firstRoot(payload)),
      transcript: path(firstText(payload, ["transcript_path", "transcriptPath"])),
    }),
    childSession,
  };
}

/** The key that an id is stored under: itself when it is plain, else its hash. */
export async function eventKey(
  id: string,
  hash: (text: string) => Promise<string>,
): Promise<string> {
  return /^[A-Za-z0-9._:-]{1,128}$/.test(id) ? id : `h:${await hash(id)}`;
}

/** The event that a spelling stands for. */
export function eventName(spelling: string): EventName {
  return BY_SPELLING.get(spelling.replaceAll(/[^A-Za-z]/g, "").toLowerCase()) ?? "Other";
}

function sessionOf(payload: Fields, host: ActivityHost): string | undefined {
  // Cursor tells a subagent's events under a conversation of their own, which names its parent.
  const parent = host === "cursor" ? textOf(payload["parent_conversation_id"]) : undefined;
  return parent ?? firstText(payload, SESSION);
}

/** Grok delivers what a child does under the child's own session, with its type and without an id. */
function isGrokChild(payload: Fields, host: ActivityHost): boolean {
  return host === "grok" && textOf(payload["subagentType"]) !== undefined &&
    textOf(payload["subagentId"]) === undefined;
}

function inputOf(payload: Fields): Fields {
  for (const key of INPUT) {
    const value = payload[key];
    if (isFields(value)) return value;
    const parsed = typeof value === "string" ? parseJson(value) : undefined;
    if (isFields(parsed)) return parsed;
  }
  return {};
}

async function launchCall(
  tool: string,
  input: Fields,
  payload: Fields,
  { host, hash }: NormaliseContext,
): Promise<LaunchCall> {
  const inBackground = input["run_in_background"];
  const mode: LaunchMode = inBackground === true
    ? "background"
    : inBackground === false
    ? "foreground"
    : "unknown";
  const result = RESULT.map((key) => payload[key]).find((value) => value !== undefined);
  const outcome = await launchOutcome(tool, result, mode, host, hash);
  return {
    kind: tool === "Workflow" ? "workflow" : "subagent",
    mode,
    type: name(firstText(input, ["subagent_type", "subagentType", "agent_type"])) ?? "",
    outcome,
  };
}

async function launchOutcome(
  tool: string,
  result: unknown,
  mode: LaunchMode,
  host: ActivityHost,
  hash: (text: string) => Promise<string>,
): Promise<LaunchOutcome> {
  const fields = fieldsOf(result);
  const named = async (
    kind: "finished" | "background",
    id: string | undefined,
  ): Promise<LaunchOutcome> =>
    id === undefined ? { kind } : { kind, agent: await eventKey(id, hash) };
  const own = firstText(fields, ["agentId", "agent_id"]);
  if (fields["status"] === "async_launched" || fields["isAsync"] === true) {
    return await named("background", own);
  }
  const isFinished = fields["status"] === "completed" || "content" in fields ||
    "totalDurationMs" in fields;
  if (isFinished) return await named("finished", own);
  if (host === "codex" && tool.endsWith("spawn_agent")) {
    const parsed = typeof result === "string" ? fieldsOf(parseJson(result)) : fields;
    return await named(
      "background",
      firstText(parsed, ["agent_id", "agentId", "thread_id", "id"]),
    );
  }
  return mode === "background" ? { kind: "background" } : { kind: "unknown" };
}

async function taskReport(
  value: unknown,
  hash: (text: string) => Promise<string>,
): Promise<TaskReport | undefined> {
  if (!Array.isArray(value)) return undefined;
  const items: readonly unknown[] = value.slice(0, TASK_LIMIT);
  const live = await Promise.all(items.map(async (item) => {
    const fields = fieldsOf(item);
    const id = textOf(fields["id"]);
    const status = textOf(fields["status"]) ?? "";
    if (id === undefined || OVER.includes(status)) return [];
    const type = name(textOf(fields["type"])) ?? "other";
    const agentType = name(firstText(fields, ["agent_type", "agentType"])) ?? "";
    return [{ key: await eventKey(id, hash), type, agentType }];
  }));
  return { live: live.flat() };
}

function stringsIn(fields: Fields): readonly string[] {
  return Object.values(fields).flatMap((value) => textOf(value) ?? []).slice(0, 16);
}

function firstRoot(payload: Fields): string | undefined {
  const roots = payload["workspace_roots"];
  const items: readonly unknown[] = Array.isArray(roots) ? roots : [];
  return textOf(items[0]);
}

/** A name without control characters, cut to what is stored. */
function name(text: string | undefined): string | undefined {
  // deno-lint-ignore no-control-regex -- control characters are what is taken out
  const plain = text?.toWellFormed().replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, "");
  return textOf(plain?.slice(0, NAME_LIMIT));
}

function path(text: string | undefined): string | undefined {
  return text === undefined || text.length > PATH_LIMIT ? undefined : text.toWellFormed();
}

/** Without the keys that hold nothing; the cast says what the filter does. */
function defined<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as { [K in keyof T]: Exclude<T[K], undefined> };
}
