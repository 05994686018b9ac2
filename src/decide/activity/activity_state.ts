/** What a session's activity file holds. */

/** Schema of the files that this build writes. */
export const SCHEMA = "turnguard.activity/1";

/** Who causes events in a session when no subagent does. */
export const MAIN = "main";

/** What an agent entry is. */
export type AgentKind = "subagent" | "teammate" | "workflow" | "cloud" | "other";

/** Whether the call that launched an agent is still open. */
export type LaunchMode = "foreground" | "background" | "unknown";

/** How an agent came to be known. */
export type AgentSource = "start" | "launch" | "registry" | "activity" | "legacy";

/** Where a session's turn is. */
export type TurnState = "running" | "ended" | "failed" | "unknown";

/** A subagent believed to be running. Times are seconds since the epoch. */
export interface AgentEntry {
  readonly kind: AgentKind;
  readonly mode: LaunchMode;
  readonly type: string;
  /** Context that launched it. */
  readonly parent: string;
  /** Key of the tool call that launched it. */
  readonly launch: string | null;
  readonly started_at: number;
  readonly last_seen_at: number;
  /** Tool calls that it began. */
  readonly tools: number;
  readonly source: AgentSource;
  /** Its own transcript, whose growth is a sign of life. */
  readonly transcript: string | null;
}

/** A launching call whose agent is not known yet. */
export interface LaunchEntry {
  readonly tool: string;
  readonly kind: AgentKind;
  readonly type: string;
  readonly parent: string;
  readonly mode: LaunchMode;
  readonly at: number;
}

/** Another tool call that has not ended. */
export interface ToolEntry {
  readonly tool: string;
  readonly ctx: string;
  readonly at: number;
}

/** Why a context waits for a person. */
export type WaitKind = "permission" | "input" | "idle";

/** Since when a context waits for a person. */
export interface Wait {
  readonly kind: WaitKind;
  readonly since: number;
}

/** The process that a harness runs in, and the machine where its pid means something. */
export interface HarnessProcess {
  readonly pid: number;
  /** Start in clock ticks, `@`, the first characters of the machine's boot id. */
  readonly identity: string;
  readonly hostname: string | null;
  readonly bootId: string | null;
}

/** The event that came last. */
export interface LastEvent {
  readonly name: string;
  readonly at: number;
  readonly ctx: string;
  readonly tool: string | null;
}

/** What a session's harness has been seen to deliver. */
export type Capability =
  | "subagent_start"
  | "subagent_stop"
  | "tool_ids"
  | "batch"
  | "background_tasks";

/** What is counted besides tool calls. */
export type Counter =
  | "events"
  | "dropped"
  | "duplicates"
  | "orphan_stops"
  | "expired"
  | "evicted"
  | "spooled"
  | "folded"
  | "reconciled"
  | "recovered"
  | "clock_backwards";

/** One session. Fields have the names that they have in the file; times are seconds. */
export interface ActivityState {
  last_tool_call_at: number | null;
  tool_call_count: number;
  generation: number;
  progress_seq: number;
  progress_at: number | null;
  updated_at: number;
  last_event: LastEvent | null;
  host: string;
  session_id: string;
  session_ids: string[];
  session_key: string;
  run_id: string | null;
  started_at: number | null;
  ended_at: number | null;
  end_reason: string | null;
  turn: TurnState;
  turn_changed_at: number | null;
  waiting: Map<string, Wait>;
  cwd: string | null;
  transcript_path: string | null;
  process: HarnessProcess | null;
  capabilities: Set<Capability>;
  agents: Map<string, AgentEntry>;
  launches: Map<string, LaunchEntry>;
  tools: Map<string, ToolEntry>;
  /** Key, time and reason of agents that ended, the newest last. */
  ended_agents: (readonly [key: string, at: number, why: string])[];
  /** Key and time of calls that ended, the newest last. */
  ended_calls: (readonly [key: string, at: number])[];
  background: Map<string, number>;
  background_at: number | null;
  crons_pending: number;
  nested: Map<string, number>;
  counters: Map<Counter, number>;
  /** Spooled events that are in here, though their files may still be there. */
  applied: string[];
  /** Number of the last entry that came without an id. */
  anonymous: number;
  /** What another build put there. */
  others: Readonly<Record<string, unknown>>;
}

/** A session of which nothing is known. */
export function emptyActivity(): ActivityState {
  return {
    last_tool_call_at: null,
    tool_call_count: 0,
    generation: 0,
    progress_seq: 0,
    progress_at: null,
    updated_at: 0,
    last_event: null,
    host: "other",
    session_id: "",
    session_ids: [],
    session_key: "",
    run_id: null,
    started_at: null,
    ended_at: null,
    end_reason: null,
    turn: "unknown",
    turn_changed_at: null,
    waiting: new Map(),
    cwd: null,
    transcript_path: null,
    process: null,
    capabilities: new Set(),
    agents: new Map(),
    launches: new Map(),
    tools: new Map(),
    ended_agents: [],
    ended_calls: [],
    background: new Map(),
    background_at: null,
    crons_pending: 0,
    nested: new Map(),
    counters: new Map(),
    applied: [],
    anonymous: 0,
    others: {},
  };
}

/** Adds to a counter. */
export function count(state: ActivityState, counter: Counter, by = 1): void {
  state.counters.set(counter, (state.counters.get(counter) ?? 0) + by);
}
