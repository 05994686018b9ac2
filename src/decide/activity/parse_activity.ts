/** The text of an activity file, taken apart without trusting it. */

import {
  type ActivityState,
  type AgentEntry,
  type AgentKind,
  type AgentSource,
  type Capability,
  type Counter,
  emptyActivity,
  type HarnessProcess,
  type LastEvent,
  type LaunchEntry,
  type LaunchMode,
  SCHEMA,
  type ToolEntry,
  type TurnState,
  type Wait,
  type WaitKind,
} from "./activity_state.ts";
import {
  countOf,
  type Fields,
  fieldsOf,
  isFields,
  numberOf,
  parseJson,
  textOf,
  wordOf,
} from "./fields.ts";
import { epochSeconds } from "./rfc3339.ts";

/** What an activity file's text is. */
export type ParsedActivity =
  | { readonly kind: "state"; readonly state: ActivityState }
  /** Written by a later build, whose rules are not known here. */
  | { readonly kind: "newer"; readonly schema: string }
  | { readonly kind: "unparsable" };

const KINDS: readonly AgentKind[] = ["subagent", "teammate", "workflow", "cloud", "other"];
const MODES: readonly LaunchMode[] = ["foreground", "background", "unknown"];
const SOURCES: readonly AgentSource[] = ["start", "launch", "registry", "activity", "legacy"];
const TURNS: readonly TurnState[] = ["unknown", "running", "ended", "failed"];
const WAITS: readonly WaitKind[] = ["idle", "permission", "input"];
const CAPABILITIES: readonly Capability[] = [
  "subagent_start",
  "subagent_stop",
  "tool_ids",
  "batch",
  "background_tasks",
];
const COUNTERS: readonly Counter[] = [
  "events",
  "dropped",
  "duplicates",
  "orphan_stops",
  "expired",
  "evicted",
  "spooled",
  "folded",
  "reconciled",
  "recovered",
  "clock_backwards",
];

/** Every key that this build knows; what else is there is kept as it is. */
const KNOWN = new Set([
  ...Object.keys(emptyActivity()),
  "subagents_in_flight",
  "schema",
  "pid",
  "pid_identity",
  "hostname",
  "boot_id",
  "anonymous_seq",
]);

/** Largest number that counts as seconds; what is larger are milliseconds. */
const SECONDS_LIMIT = 1e11;

/** Most subagents that a bare counter is believed. */
const LEGACY_LIMIT = 512;

/**
 * Parses the text of an activity file.
 *
 * A file with nothing but a counter, as an earlier tool writes it, becomes as many entries as it
 * counts, last seen when the file was changed.
 *
 * @param modifiedAt Seconds since the epoch of the file's last change.
 */
export function parseActivity(text: string, modifiedAt: number): ParsedActivity {
  const value = parseJson(text);
  if (!isFields(value)) return { kind: "unparsable" };
  const schema = value["schema"];
  if (schema === undefined) return { kind: "state", state: legacy(value, modifiedAt) };
  if (typeof schema !== "string") return { kind: "unparsable" };
  const major = /^turnguard\.activity\/([0-9]{1,6})$/.exec(schema)?.[1];
  if (major === undefined) return { kind: "unparsable" };
  if (schema !== SCHEMA) return { kind: "newer", schema };
  return { kind: "state", state: current(value) };
}

function current(fields: Fields): ActivityState {
  return {
    ...tools(fields),
    generation: countOf(fields["generation"]),
    progress_seq: countOf(fields["progress_seq"]),
    progress_at: timeOf(fields["progress_at"]),
    updated_at: numberOf(fields["updated_at"]) ?? 0,
    last_event: lastEvent(fields["last_event"]),
    host: textOf(fields["host"]) ?? "other",
    session_id: textOf(fields["session_id"]) ?? "",
    session_ids: listOf(fields["session_ids"], textOf),
    session_key: textOf(fields["session_key"]) ?? "",
    run_id: textOf(fields["run_id"]) ?? null,
    started_at: timeOf(fields["started_at"]),
    ended_at: timeOf(fields["ended_at"]),
    end_reason: textOf(fields["end_reason"]) ?? null,
    turn: wordOf(fields["turn"], TURNS, "unknown"),
    turn_changed_at: timeOf(fields["turn_changed_at"]),
    waiting: mapOf(fields["waiting"], wait),
    cwd: textOf(fields["cwd"]) ?? null,
    transcript_path: textOf(fields["transcript_path"]) ?? null,
    process: harnessProcess(fields),
    capabilities: new Set(
      CAPABILITIES.filter((name) => fieldsOf(fields["capabilities"])[name] === true),
    ),
    agents: mapOf(fields["agents"], agent),
    launches: mapOf(fields["launches"], launch),
    tools: mapOf(fields["tools"], tool),
    ended_agents: listOf(fields["ended_agents"], endedAgent),
    ended_calls: listOf(fields["ended_calls"], endedCall),
    background: mapOf(fields["background"], numberOf),
    background_at: timeOf(fields["background_at"]),
    crons_pending: countOf(fields["crons_pending"]),
    nested: mapOf(fields["nested"], (value) => numberOf(fieldsOf(value)["at"])),
    counters: new Map(
      COUNTERS.map((name) => [name, countOf(fieldsOf(fields["counters"])[name])] as const)
        .filter(([, value]) => value > 0),
    ),
    applied: listOf(fields["applied"], textOf),
    anonymous: countOf(fields["anonymous_seq"]),
    others: Object.fromEntries(Object.entries(fields).filter(([name]) => !KNOWN.has(name))),
  };
}

function legacy(fields: Fields, modifiedAt: number): ActivityState {
  const inFlight = Math.min(LEGACY_LIMIT, countOf(fields["subagents_in_flight"]));
  const entry: AgentEntry = {
    kind: "subagent",
    mode: "unknown",
    type: "",
    parent: "main",
    launch: null,
    started_at: modifiedAt,
    last_seen_at: modifiedAt,
    tools: 0,
    source: "legacy",
    transcript: null,
  };
  return {
    ...emptyActivity(),
    ...tools(fields),
    // Whoever wrote it has just been at work.
    progress_at: modifiedAt,
    updated_at: modifiedAt,
    agents: new Map(Array.from({ length: inFlight }, (_, index) => [`legacy:${index + 1}`, entry])),
    others: Object.fromEntries(Object.entries(fields).filter(([name]) => !KNOWN.has(name))),
  };
}

function tools(fields: Fields): Pick<ActivityState, "last_tool_call_at" | "tool_call_count"> {
  return {
    last_tool_call_at: timeOf(fields["last_tool_call_at"]),
    tool_call_count: countOf(fields["tool_call_count"]),
  };
}

/** Seconds, in any of the forms that a tool may have written. */
function timeOf(value: unknown): number | null {
  if (typeof value === "string") {
    const number = value.trim() === "" ? NaN : Number(value);
    return timeOf(Number.isFinite(number) ? number : epochSeconds(value));
  }
  const number = numberOf(value);
  if (number === undefined) return null;
  return number >= SECONDS_LIMIT ? number / 1000 : number;
}

function lastEvent(value: unknown): LastEvent | null {
  const fields = fieldsOf(value);
  const name = textOf(fields["name"]);
  if (name === undefined) return null;
  return {
    name,
    at: numberOf(fields["at"]) ?? 0,
    ctx: textOf(fields["ctx"]) ?? "main",
    tool: textOf(fields["tool"]) ?? null,
  };
}

function harnessProcess(fields: Fields): HarnessProcess | null {
  const pid = countOf(fields["pid"]);
  const identity = textOf(fields["pid_identity"]);
  if (pid <= 1 || identity === undefined) return null;
  return {
    pid,
    identity,
    hostname: textOf(fields["hostname"]) ?? null,
    bootId: textOf(fields["boot_id"]) ?? null,
  };
}

function wait(value: unknown): Wait | undefined {
  const fields = fieldsOf(value);
  const since = numberOf(fields["since"]);
  return since === undefined ? undefined : { kind: wordOf(fields["kind"], WAITS, "idle"), since };
}

function agent(value: unknown): AgentEntry | undefined {
  const fields = fieldsOf(value);
  const seen = numberOf(fields["last_seen_at"]);
  if (seen === undefined) return undefined;
  return {
    kind: wordOf(fields["kind"], KINDS, "other"),
    mode: wordOf(fields["mode"], MODES, "unknown"),
    type: typeof fields["type"] === "string" ? fields["type"] : "",
    parent: textOf(fields["parent"]) ?? "main",
    launch: textOf(fields["launch"]) ?? null,
    started_at: numberOf(fields["started_at"]) ?? seen,
    last_seen_at: seen,
    tools: countOf(fields["tools"]),
    source: wordOf(fields["source"], SOURCES, "start"),
    transcript: textOf(fields["transcript"]) ?? null,
  };
}

function launch(value: unknown): LaunchEntry | undefined {
  const fields = fieldsOf(value);
  const at = numberOf(fields["at"]);
  if (at === undefined) return undefined;
  return {
    tool: typeof fields["tool"] === "string" ? fields["tool"] : "",
    kind: wordOf(fields["kind"], KINDS, "subagent"),
    type: typeof fields["type"] === "string" ? fields["type"] : "",
    parent: textOf(fields["parent"]) ?? "main",
    mode: wordOf(fields["mode"], MODES, "unknown"),
    at,
  };
}

function tool(value: unknown): ToolEntry | undefined {
  const fields = fieldsOf(value);
  const at = numberOf(fields["at"]);
  if (at === undefined) return undefined;
  return {
    tool: typeof fields["tool"] === "string" ? fields["tool"] : "",
    ctx: textOf(fields["ctx"]) ?? "main",
    at,
  };
}

function endedAgent(value: unknown): readonly [string, number, string] | undefined {
  if (!Array.isArray(value)) return undefined;
  const items: readonly unknown[] = value;
  const [key, at, why] = items;
  return typeof key === "string" && typeof at === "number"
    ? [key, at, typeof why === "string" ? why : ""]
    : undefined;
}

function endedCall(value: unknown): readonly [string, number] | undefined {
  if (!Array.isArray(value)) return undefined;
  const items: readonly unknown[] = value;
  const [key, at] = items;
  return typeof key === "string" && typeof at === "number" ? [key, at] : undefined;
}

function mapOf<T>(value: unknown, read: (value: unknown) => T | undefined): Map<string, T> {
  const entries = new Map<string, T>();
  for (const [key, item] of Object.entries(fieldsOf(value))) {
    const entry = read(item);
    if (entry !== undefined) entries.set(key, entry);
  }
  return entries;
}

function listOf<T>(value: unknown, read: (value: unknown) => T | undefined): T[] {
  if (!Array.isArray(value)) return [];
  const items: readonly unknown[] = value;
  return items.flatMap((item) => {
    const entry = read(item);
    return entry === undefined ? [] : [entry];
  });
}
