/** The text of an activity file. */

import { type ActivityState, SCHEMA } from "./activity_state.ts";
import { inFlight } from "./session_sets.ts";

/** Bytes that a file may have. */
const SIZE_LIMIT = 256 * 1024;

/**
 * One JSON object on one line. The three fields that simple readers know come first.
 *
 * What makes it too large goes, the oldest first: memories, then calls, then agents.
 */
export function formatActivity(state: ActivityState): string {
  let text = lineOf(state);
  while (new TextEncoder().encode(text).length > SIZE_LIMIT && shrink(state)) text = lineOf(state);
  return text;
}

function lineOf(state: ActivityState): string {
  const { process, capabilities, anonymous, others } = state;
  return `${
    JSON.stringify({
      last_tool_call_at: rounded(state.last_tool_call_at),
      tool_call_count: state.tool_call_count,
      subagents_in_flight: inFlight(state),
      schema: SCHEMA,
      generation: state.generation,
      progress_seq: state.progress_seq,
      progress_at: rounded(state.progress_at),
      updated_at: rounded(state.updated_at),
      last_event: state.last_event,
      host: state.host,
      session_id: state.session_id,
      session_ids: state.session_ids,
      session_key: state.session_key,
      run_id: state.run_id,
      started_at: rounded(state.started_at),
      ended_at: rounded(state.ended_at),
      end_reason: state.end_reason,
      turn: state.turn,
      turn_changed_at: rounded(state.turn_changed_at),
      waiting: Object.fromEntries(state.waiting),
      cwd: state.cwd,
      transcript_path: state.transcript_path,
      pid: process?.pid ?? null,
      pid_identity: process?.identity ?? null,
      hostname: process?.hostname ?? null,
      boot_id: process?.bootId ?? null,
      capabilities: Object.fromEntries([...capabilities].map((name) => [name, true])),
      agents: Object.fromEntries(
        [...state.agents].map(([key, agent]) => [key, { state: "running", ...agent }]),
      ),
      launches: Object.fromEntries(state.launches),
      tools: Object.fromEntries(state.tools),
      ended_agents: state.ended_agents,
      ended_calls: state.ended_calls,
      background: Object.fromEntries(state.background),
      background_at: rounded(state.background_at),
      crons_pending: state.crons_pending,
      nested: Object.fromEntries([...state.nested].map(([key, at]) => [key, { at }])),
      counters: Object.fromEntries(state.counters),
      applied: state.applied,
      anonymous_seq: anonymous,
      ...others,
    })
  }\n`;
}

function rounded(seconds: number | null): number | null {
  return seconds === null ? null : Math.round(seconds * 1000) / 1000;
}

/** Lets something old go; `false` when there is nothing left that could. */
function shrink(state: ActivityState): boolean {
  for (const list of [state.ended_calls, state.ended_agents]) {
    if (list.length > 16) {
      list.splice(0, Math.ceil(list.length / 2));
      return true;
    }
  }
  if (Object.keys(state.others).length > 0) {
    state.others = {};
    return true;
  }
  for (const entries of [state.tools, state.launches, state.agents, state.nested]) {
    const [oldest] = entries.keys();
    if (oldest !== undefined && entries.size > 16) {
      entries.delete(oldest);
      return true;
    }
  }
  return false;
}
