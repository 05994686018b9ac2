/** What every event changes in a session's state. */

import { type ActivityEvent, isProgress, type LaunchCall } from "./activity_event.ts";
import {
  type ActivityState,
  type AgentEntry,
  count,
  type HarnessProcess,
  MAIN,
  type TurnState,
  type WaitKind,
} from "./activity_state.ts";
import { agentTranscript, openAgent } from "./open_agent.ts";
import { reconcile } from "./reconcile.ts";
import {
  agentEndedAt,
  emptySets,
  endAgent,
  endLaunch,
  endTool,
  hasEnded,
  putAgent,
  putLaunch,
  putNested,
  putTool,
  rememberCall,
} from "./session_sets.ts";

/** Parents above an agent that its work keeps alive. */
const PARENT_STEPS = 8;

/** Earlier ids of a session that are kept. */
const ID_LIMIT = 8;

/** Notifications that say that the session waits for a person. */
const WAITS: ReadonlyMap<string, WaitKind> = new Map([
  ["permission_prompt", "permission"],
  ["elicitation_dialog", "input"],
  ["elicitation_url_dialog", "input"],
  ["agent_needs_input", "input"],
  ["idle_prompt", "idle"],
]);

/** Notifications that say that somebody has answered. */
const ANSWERS = ["elicitation_complete", "elicitation_response", "agent_completed"];

/**
 * Applies one event to `state`, in place.
 *
 * Sets hold what is in flight by id, so that an event which comes twice, late, or for something that
 * was never seen changes nothing that it should not.
 */
export function applyEvent(state: ActivityState, event: ActivityEvent): void {
  if (event.isOnlyProcess === true) {
    state.process ??= event.process ?? null;
    return;
  }
  count(state, "events");
  if (event.nested !== undefined) {
    progress(state, event.at);
    putNested(state, event.nested, event.at);
    return;
  }
  const ctx = event.agent ?? MAIN;
  recordHeader(state, event, ctx);
  if (event.name === "PreToolUse" && ctx !== MAIN && !state.agents.has(ctx)) {
    openAgent(state, { key: ctx, type: event.agentType ?? "", source: "activity", event });
  }
  if (isProgress(event.name)) {
    progress(state, event.at);
    state.waiting.delete(ctx);
  }
  touch(state, ctx, event);
  EFFECTS[event.name]?.(state, event, ctx);
}

type Effect = (state: ActivityState, event: ActivityEvent, ctx: string) => void;

const EFFECTS: Readonly<Partial<Record<ActivityEvent["name"], Effect>>> = {
  SessionStart: sessionStart,
  UserPromptSubmit: (state, event) => {
    state.ended_at = null;
    setTurn(state, "running", event.at);
  },
  PreToolUse: (state, event, ctx) => {
    if (event.launch === undefined) beginTool(state, event, ctx);
    else beginLaunch(state, event, event.launch, ctx);
  },
  PostToolUse: (state, event, ctx) => {
    if (event.launch === undefined) endToolCall(state, event, ctx);
    else endLaunchCall(state, event, event.launch, ctx);
  },
  PostToolUseFailure: failedCall,
  PostToolBatch: (state, event, ctx) => {
    endCallsOf(state, ctx, event.at);
    state.capabilities.add("batch");
  },
  PermissionRequest: (state, event, ctx) => {
    state.waiting.set(ctx, { kind: "permission", since: event.at });
  },
  PermissionDenied: (state, { call, at }) => {
    if (call === undefined) return;
    endTool(state, call, at);
    endLaunch(state, call, at);
  },
  SubagentStart: (state, event) => {
    state.capabilities.add("subagent_start");
    const key = event.agent ?? anonymousKey(state);
    openAgent(state, { key, type: event.agentType ?? "", source: "start", event });
  },
  SubagentStop: subagentStop,
  Stop: (state, event, ctx) => {
    if (ctx === MAIN) endTurn(state, event, "ended");
  },
  StopFailure: (state, event, ctx) => {
    if (ctx === MAIN) endTurn(state, event, "failed");
  },
  Notification: (state, { notification, at }) => {
    const kind = WAITS.get(notification ?? "");
    if (kind !== undefined) state.waiting.set(MAIN, { kind, since: at });
    else if (ANSWERS.includes(notification ?? "")) state.waiting.delete(MAIN);
  },
  TeammateIdle: (state, { agent, teammate, at }) => {
    const key = agent ?? [...state.agents].find(([, { type }]) => type === teammate)?.[0];
    if (key !== undefined) endAgent(state, key, at, "teammate-idle");
  },
  SessionEnd: (state, { reason, session, at }) => {
    if (reason === "clear" || reason === "resume") return setTurn(state, "unknown", at);
    if (session !== state.session_id) return;
    emptySets(state);
    state.ended_at = at;
    state.end_reason = reason ?? null;
  },
};

function recordHeader(state: ActivityState, event: ActivityEvent, ctx: string): void {
  const { name, at, tool } = event;
  state.last_event = { name, at, ctx, tool: tool ?? null };
  state.host = event.host;
  state.started_at ??= at;
  state.run_id = event.runId ?? state.run_id;
  if (event.process !== undefined && name !== "SessionStart") takeOver(state, event.process);
  if (tool !== undefined && event.call !== undefined) state.capabilities.add("tool_ids");
  // A session that ends inside of another one's run must not give it its name.
  if (name !== "SessionEnd" || state.session_id === "") followSession(state, event);
  if (ctx !== MAIN) return;
  state.cwd = event.cwd ?? state.cwd;
  state.transcript_path = event.transcript ?? state.transcript_path;
}

/** Another process goes on with the session: what the earlier one had in flight ended with it. */
function takeOver(state: ActivityState, process: HarnessProcess): void {
  if (state.process !== null && !isSame(state.process, process)) emptySets(state);
  state.process = process;
}

function isSame(one: HarnessProcess, other: HarnessProcess): boolean {
  return one.pid === other.pid && one.identity === other.identity;
}

/** The same process may go on under another id, after a compaction or a fork. */
function followSession(state: ActivityState, { session, sessionKey }: ActivityEvent): void {
  if (session === "" || session === state.session_id) return;
  if (state.session_id !== "") {
    state.session_ids = [
      ...state.session_ids.filter((id) => id !== session && id !== state.session_id),
      state.session_id,
    ].slice(-ID_LIMIT);
  }
  state.session_id = session;
  state.session_key = sessionKey;
}

function progress(state: ActivityState, at: number): void {
  state.progress_seq += 1;
  state.progress_at = Math.max(state.progress_at ?? 0, at);
}

function setTurn(state: ActivityState, turn: TurnState, at: number): void {
  if (state.turn === turn) return;
  state.turn = turn;
  state.turn_changed_at = at;
}

/** A parent that waits for its child is alive while the child works. */
function touch(state: ActivityState, ctx: string, event: ActivityEvent): void {
  let key = ctx;
  for (let step = 0; step <= PARENT_STEPS; step++) {
    const agent = state.agents.get(key);
    if (agent === undefined) return;
    const begun = step === 0 && event.name === "PreToolUse" ? 1 : 0;
    state.agents.set(key, {
      ...agent,
      last_seen_at: Math.max(agent.last_seen_at, event.at),
      tools: agent.tools + begun,
    });
    key = agent.parent;
  }
}

function sessionStart(state: ActivityState, event: ActivityEvent): void {
  const known = state.process;
  const isAnother = event.process !== undefined && known !== null &&
    !isSame(event.process, known);
  state.ended_at = null;
  state.end_reason = null;
  if (event.source === "startup" || isAnother) {
    emptySets(state);
    setTurn(state, "unknown", event.at);
  }
  if (event.process !== undefined) state.process = event.process;
}

function anonymousKey(state: ActivityState): string {
  state.anonymous += 1;
  return `anon:${state.anonymous}`;
}

function beginCall(state: ActivityState, { at }: ActivityEvent, ctx: string): void {
  state.tool_call_count += 1;
  state.last_tool_call_at = at;
  if (ctx !== MAIN) return;
  state.ended_at = null;
  setTurn(state, "running", at);
}

function beginTool(state: ActivityState, event: ActivityEvent, ctx: string): void {
  const { call, at, tool = "" } = event;
  if (call !== undefined && (state.tools.has(call) || hasEnded(state, call))) {
    return count(state, "duplicates");
  }
  beginCall(state, event, ctx);
  if (call !== undefined) putTool(state, call, { tool, ctx, at });
  if (event.asks === true) state.waiting.set(ctx, { kind: "input", since: at });
}

function beginLaunch(
  state: ActivityState,
  event: ActivityEvent,
  { kind, type, mode }: LaunchCall,
  ctx: string,
): void {
  const { call, at, tool = "" } = event;
  const isKnown = call !== undefined && (state.launches.has(call) || hasEnded(state, call) ||
    boundTo(state, call) !== undefined);
  if (isKnown) return count(state, "duplicates");
  beginCall(state, event, ctx);
  putLaunch(state, call ?? anonymousKey(state), { tool, kind, type, parent: ctx, mode, at });
}

function endToolCall(state: ActivityState, event: ActivityEvent, ctx: string): void {
  const { call, at, tool = "" } = event;
  state.last_tool_call_at = at;
  if (call === undefined) endOldestTool(state, tool, ctx, at);
  else if (state.tools.has(call)) endTool(state, call, at);
  else if (!hasEnded(state, call)) {
    // Its beginning was never delivered, or comes late: then it is a repetition.
    state.tool_call_count += 1;
    rememberCall(state, call, at);
  }
  for (const key of event.stops ?? []) endAgent(state, key, at, "stopped");
}

/** A harness that gives no id after a call means the oldest one of that name. */
function endOldestTool(state: ActivityState, tool: string, ctx: string, at: number): void {
  const oldest = [...state.tools].find(([, entry]) => entry.tool === tool && entry.ctx === ctx);
  if (oldest !== undefined) endTool(state, oldest[0], at);
}

/** Key of the launch that an event is about. */
function launchKey(state: ActivityState, { call }: ActivityEvent, ctx: string): string | undefined {
  if (call !== undefined) return call;
  return [...state.launches].find(([key, { parent }]) => key.startsWith("anon:") && parent === ctx)
    ?.[0];
}

/** Key of the agent that a launch became. */
function boundTo(state: ActivityState, launch: string): string | undefined {
  return [...state.agents].find(([, agent]) => agent.launch === launch)?.[0];
}

function endLaunchCall(
  state: ActivityState,
  event: ActivityEvent,
  call: LaunchCall,
  ctx: string,
): void {
  state.last_tool_call_at = event.at;
  const key = launchKey(state, event, ctx);
  if (key === undefined) return;
  const isNew = !state.launches.has(key) && boundTo(state, key) === undefined &&
    !hasEnded(state, key);
  if (isNew) {
    state.tool_call_count += 1;
    rememberCall(state, key, event.at);
  }
  const outcome = call.outcome ?? { kind: "unknown" };
  if (outcome.kind === "background") {
    if (outcome.agent !== undefined) return inBackground(state, event, key, call, outcome.agent);
    return inBackgroundUnnamed(state, event, key);
  }
  const bound = boundTo(state, key);
  if (
    outcome.kind === "unknown" && bound !== undefined &&
    state.agents.get(bound)?.mode === "background"
  ) {
    return endLaunch(state, key, event.at);
  }
  const agent = outcome.kind === "finished" ? outcome.agent : undefined;
  endLaunch(state, key, event.at);
  rememberOnce(state, key, event.at);
  if (agent !== undefined) {
    swapLaunch(state, key, agent);
    endAgent(state, agent, event.at, "done");
  } else if (bound !== undefined) {
    // Where stops are told, the stop decides: it may have ended a sibling that was bound wrongly.
    if (state.capabilities.has("subagent_stop")) unbind(state, bound);
    else endAgent(state, bound, event.at, "done");
  }
}

/** A launch that has become an agent is no longer among the launches that are remembered. */
function rememberOnce(state: ActivityState, key: string, at: number): void {
  if (!hasEnded(state, key)) rememberCall(state, key, at);
}

/** The result says whose launch it was; another agent that was bound to it gets that one's. */
function swapLaunch(state: ActivityState, launch: string, agent: string): void {
  const bound = boundTo(state, launch);
  if (bound === undefined || bound === agent) return;
  const other = state.agents.get(bound);
  if (other === undefined) return;
  state.agents.set(bound, { ...other, launch: state.agents.get(agent)?.launch ?? null });
}

function unbind(state: ActivityState, key: string): void {
  const agent = state.agents.get(key);
  if (agent !== undefined) state.agents.set(key, { ...agent, launch: null });
}

function inBackground(
  state: ActivityState,
  event: ActivityEvent,
  launch: string,
  call: LaunchCall,
  key: string,
): void {
  const launched = state.launches.get(launch);
  const ended = agentEndedAt(state, key);
  const known = state.agents.get(key);
  // It was faster than this event.
  const isOver = known === undefined && ended !== undefined && ended >= (launched?.at ?? 0);
  swapLaunch(state, launch, key);
  endLaunch(state, launch, event.at);
  rememberOnce(state, launch, event.at);
  if (isOver) return;
  state.agents.delete(`l:${launch}`);
  const entry: AgentEntry = known ?? {
    kind: call.kind,
    mode: "background",
    type: launched?.type ?? call.type,
    parent: launched?.parent ?? event.agent ?? MAIN,
    launch,
    started_at: launched?.at ?? event.at,
    last_seen_at: event.at,
    tools: 0,
    source: "launch",
    transcript: agentTranscript(state, key),
  };
  putAgent(state, key, { ...entry, mode: "background", launch, last_seen_at: event.at });
}

function inBackgroundUnnamed(state: ActivityState, event: ActivityEvent, launch: string): void {
  const bound = boundTo(state, launch);
  const launched = state.launches.get(launch);
  if (bound !== undefined) {
    const agent = state.agents.get(bound);
    if (agent !== undefined) state.agents.set(bound, { ...agent, mode: "background" });
    return rememberOnce(state, launch, event.at);
  }
  if (launched === undefined) return;
  endLaunch(state, launch, event.at);
  putAgent(state, `l:${launch}`, {
    kind: launched.kind,
    mode: "background",
    type: launched.type,
    parent: launched.parent,
    launch,
    started_at: launched.at,
    last_seen_at: event.at,
    tools: 0,
    source: "launch",
    transcript: null,
  });
}

function failedCall(state: ActivityState, event: ActivityEvent, ctx: string): void {
  const { at, tool = "" } = event;
  state.last_tool_call_at = at;
  if (event.launch === undefined) {
    if (event.call === undefined) endOldestTool(state, tool, ctx, at);
    else endTool(state, event.call, at);
    return;
  }
  const key = launchKey(state, event, ctx);
  if (key === undefined) return;
  const bound = boundTo(state, key);
  endLaunch(state, key, at);
  rememberOnce(state, key, at);
  if (bound !== undefined && state.agents.get(bound)?.mode !== "background") {
    endAgent(state, bound, at, "failed");
  }
}

function endCallsOf(state: ActivityState, ctx: string, at: number): void {
  for (const [key, tool] of [...state.tools]) if (tool.ctx === ctx) endTool(state, key, at);
  for (const [key, { parent }] of [...state.launches]) {
    if (parent === ctx) endLaunch(state, key, at);
  }
}

function subagentStop(state: ActivityState, event: ActivityEvent): void {
  state.capabilities.add("subagent_stop");
  const { agent, agentType = "", at } = event;
  if (agent === undefined) endAnonymous(state, agentType, at);
  else if (state.agents.has(agent)) endAgent(state, agent, at, "stop");
  else count(state, "orphan_stops");
  if (event.report !== undefined) reconcile(state, event, event.report);
}

/** A stop that names nobody ends the oldest that it may mean. */
function endAnonymous(state: ActivityState, type: string, at: number): void {
  const sameType = [...state.agents].find(([, agent]) => agent.type === type);
  const unnamed = [...state.agents].find(([key]) => /^(?:anon|l):/.test(key));
  const key = sameType?.[0] ?? unnamed?.[0];
  if (key !== undefined) return endAgent(state, key, at, "stop");
  const [launch] = state.launches.keys();
  if (launch !== undefined) endLaunch(state, launch, at);
  else count(state, "orphan_stops");
}

/** Agents in the background go on: clearing them would hide what this is there for. */
function endTurn(state: ActivityState, event: ActivityEvent, turn: "ended" | "failed"): void {
  endCallsOf(state, MAIN, event.at);
  for (const [key, { parent, mode }] of [...state.agents]) {
    if (parent === MAIN && mode === "foreground") endAgent(state, key, event.at, "turn-ended");
  }
  setTurn(state, turn, event.at);
  if (turn === "ended" && event.report !== undefined) reconcile(state, event, event.report);
  if (event.crons !== undefined) state.crons_pending = event.crons;
  if (state.agents.size === 0) state.waiting.set(MAIN, { kind: "idle", since: event.at });
}
