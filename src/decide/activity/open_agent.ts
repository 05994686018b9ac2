/** A subagent that shows itself: a new entry, bound to what was seen of it before. */

import type { ActivityEvent } from "./activity_event.ts";
import {
  type ActivityState,
  type AgentEntry,
  type AgentKind,
  type AgentSource,
  MAIN,
} from "./activity_state.ts";
import { putAgent } from "./session_sets.ts";

/** The subagent that shows itself. */
export interface NewAgent {
  readonly key: string;
  readonly type: string;
  readonly source: AgentSource;
  readonly event: ActivityEvent;
}

/** Type of the children of a workflow, which is one entry itself. */
export const WORKFLOW_CHILD = "workflow-subagent";

/**
 * Adds an agent; one that runs already is only seen again.
 *
 * Its launch, if one was seen, becomes this entry: one subagent must never be counted twice.
 */
export function openAgent(state: ActivityState, agent: NewAgent): void {
  const { key, type, source, event } = agent;
  const known = state.agents.get(key);
  if (known !== undefined) {
    state.agents.set(key, { ...known, last_seen_at: Math.max(known.last_seen_at, event.at) });
    return;
  }
  state.ended_agents = state.ended_agents.filter(([ended]) => ended !== key);
  const fresh: AgentEntry = {
    kind: "subagent",
    mode: type === WORKFLOW_CHILD ? "background" : "unknown",
    type,
    parent: MAIN,
    launch: null,
    started_at: event.at,
    last_seen_at: event.at,
    tools: 0,
    source,
    transcript: agentTranscript(state, key),
  };
  const trace = type === WORKFLOW_CHILD ? {} : bindTrace(state, key, type);
  putAgent(state, key, { ...fresh, ...trace });
}

/** What an earlier trace says of an agent. */
type Trace = Partial<Pick<AgentEntry, "parent" | "mode" | "launch" | "kind">>;

/** Takes out the launch, or the entry made of one, that an agent comes from, and tells what it said. */
export function bindTrace(
  state: ActivityState,
  key: string,
  type: string,
  kinds: (kind: AgentKind) => boolean = (kind) => kind !== "workflow",
): Trace {
  const named = state.launches.get(key);
  if (named !== undefined) {
    state.launches.delete(key);
    return { parent: named.parent, mode: named.mode, launch: key };
  }
  const candidates = [
    ...[...state.launches].map(([id, launch]) => ({ ...launch, id, isLaunch: true })),
    ...[...state.agents].filter(([id]) => id.startsWith("l:")).map(([id, entry]) => ({
      ...entry,
      id,
      at: entry.started_at,
      isLaunch: false,
    })),
  ].filter(({ kind }) => kinds(kind)).sort((one, other) => one.at - other.at);
  const found = candidates.find((one) => type !== "" && one.type === type) ??
    candidates.find((one) => type === "" || one.type === "");
  if (found === undefined) return {};
  if (found.isLaunch) {
    state.launches.delete(found.id);
    return { parent: found.parent, mode: found.mode, launch: found.id };
  }
  const converted = state.agents.get(found.id);
  state.agents.delete(found.id);
  return { parent: found.parent, mode: "background", launch: converted?.launch ?? null };
}

/** Where Claude Code writes what a subagent does; other harnesses tell no such place. */
export function agentTranscript(state: ActivityState, key: string): string | null {
  const path = state.transcript_path;
  const isPlain = /^[A-Za-z0-9._-]{1,128}$/.test(key);
  if (state.host !== "claude" || path === null || !path.endsWith(".jsonl") || !isPlain) return null;
  return `${path.slice(0, -".jsonl".length)}/subagents/agent-${key}.jsonl`;
}
