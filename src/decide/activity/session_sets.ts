/** The sets of a session's state: what enters and leaves them, and how large they may be. */

import {
  type ActivityState,
  type AgentEntry,
  count,
  type LaunchEntry,
  type ToolEntry,
} from "./activity_state.ts";

const AGENT_LIMIT = 512;
const CALL_LIMIT = 256;
const MEMORY_LIMIT = 256;
const NESTED_LIMIT = 64;

/** Ends an agent, with its tool calls, the launches that it made and its wait. */
export function endAgent(state: ActivityState, key: string, at: number, why: string): void {
  const agent = state.agents.get(key);
  if (agent === undefined) return;
  state.agents.delete(key);
  // The end of the call that launched it may still come, and is no new call then.
  if (agent.launch !== null && !hasEnded(state, agent.launch)) {
    rememberCall(state, agent.launch, at);
  }
  for (const [id, { ctx }] of [...state.tools]) if (ctx === key) endTool(state, id, at);
  for (const [id, { parent }] of [...state.launches]) if (parent === key) endLaunch(state, id, at);
  state.waiting.delete(key);
  remember(state.ended_agents, [key, at, why] as const);
}

/** Drops a launch and remembers its key. */
export function endLaunch(state: ActivityState, key: string, at: number): void {
  if (state.launches.delete(key)) rememberCall(state, key, at);
}

/** Removes a tool call and remembers its key. */
export function endTool(state: ActivityState, key: string, at: number): void {
  if (state.tools.delete(key)) rememberCall(state, key, at);
}

/** Remembers that a call has ended. */
export function rememberCall(state: ActivityState, key: string, at: number): void {
  remember(state.ended_calls, [key, at] as const);
}

/** Whether a call has ended, as far as that is remembered. */
export function hasEnded(state: ActivityState, key: string): boolean {
  return state.ended_calls.some(([ended]) => ended === key);
}

/** When an agent ended, as far as that is remembered. */
export function agentEndedAt(state: ActivityState, key: string): number | undefined {
  return state.ended_agents.findLast(([ended]) => ended === key)?.[1];
}

/** Adds or replaces an agent. */
export function putAgent(state: ActivityState, key: string, agent: AgentEntry): void {
  state.agents.set(key, agent);
  evict(state, state.agents, AGENT_LIMIT);
}

/** Adds a launch. */
export function putLaunch(state: ActivityState, key: string, launch: LaunchEntry): void {
  state.launches.set(key, launch);
  evict(state, state.launches, CALL_LIMIT);
}

/** Adds a tool call. */
export function putTool(state: ActivityState, key: string, tool: ToolEntry): void {
  state.tools.set(key, tool);
  evict(state, state.tools, CALL_LIMIT);
}

/** Notes that a nested session is at work. */
export function putNested(state: ActivityState, key: string, at: number): void {
  state.nested.delete(key);
  state.nested.set(key, at);
  evict(state, state.nested, NESTED_LIMIT);
}

/** Takes every agent, launch, call and wait out, as when another process goes on with the session. */
export function emptySets(state: ActivityState): void {
  state.agents.clear();
  state.launches.clear();
  state.tools.clear();
  state.waiting.clear();
  state.background.clear();
}

/** Subagents in flight: entries, and launches that have no entry yet. */
export function inFlight(state: ActivityState): number {
  return state.agents.size + state.launches.size;
}

function remember<T extends readonly [string, ...unknown[]]>(list: T[], entry: T): void {
  const before = list.findIndex(([key]) => key === entry[0]);
  if (before >= 0) list.splice(before, 1);
  list.push(entry);
  if (list.length > MEMORY_LIMIT) list.splice(0, list.length - MEMORY_LIMIT);
}

/** The oldest go: a map keeps the order in which keys came in. */
function evict<T>(state: ActivityState, entries: Map<string, T>, limit: number): void {
  for (const key of entries.keys()) {
    if (entries.size <= limit) return;
    entries.delete(key);
    count(state, "evicted");
  }
}
