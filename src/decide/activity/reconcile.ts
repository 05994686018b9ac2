/** Believing a harness's own list of the tasks that it still has. */

import type { ActivityEvent, TaskReport } from "./activity_event.ts";
import { type ActivityState, type AgentKind, count } from "./activity_state.ts";
import { agentTranscript, bindTrace, WORKFLOW_CHILD } from "./open_agent.ts";
import { agentEndedAt, endAgent, putAgent } from "./session_sets.ts";

/** Seconds in which an agent may have shown itself while the list was made. */
const RACE_SECONDS = 5;

/** Types of tasks that are subagents, and what they are to us. */
const COUNTED: ReadonlyMap<string, AgentKind> = new Map<string, AgentKind>([
  ["subagent", "subagent"],
  ["teammate", "teammate"],
  ["workflow", "workflow"],
  ["cloud session", "cloud"],
]);

/**
 * Brings the background agents in line with the harness's list.
 *
 * Agents whose call is still open stay: the list may leave them out. A finished agent stays listed as
 * running so that it can be written to, and is not added again.
 */
export function reconcile(state: ActivityState, event: ActivityEvent, report: TaskReport): void {
  const { at } = event;
  const stopped = event.name === "SubagentStop" ? event.agent : undefined;
  const live = new Map(
    report.live.filter(({ type, key }) => COUNTED.has(type) && key !== stopped)
      .map((task) => [task.key, task] as const),
  );
  const hasWorkflow = [...live.values()].some(({ type }) => type === "workflow");
  for (const [key, agent] of [...state.agents]) {
    const isListed = agent.mode === "background" || agent.source === "registry";
    const isRecent = agent.last_seen_at >= at - RACE_SECONDS;
    const isOfWorkflow = agent.type === WORKFLOW_CHILD && hasWorkflow;
    if (!isListed || live.has(key) || isRecent || isOfWorkflow) continue;
    endAgent(state, key, at, "registry");
    count(state, "reconciled");
  }
  for (const [key, task] of live) {
    const known = state.agents.get(key);
    if (known !== undefined) {
      state.agents.set(key, { ...known, last_seen_at: Math.max(known.last_seen_at, at) });
    } else if (agentEndedAt(state, key) === undefined) {
      add(state, key, COUNTED.get(task.type) ?? "other", task.agentType, at);
    }
  }
  state.background = new Map();
  for (const { type } of report.live) {
    state.background.set(type, (state.background.get(type) ?? 0) + 1);
  }
  state.background_at = at;
  state.capabilities.add("background_tasks");
}

/** A task that nobody has told of; an entry made of an unnamed launch of its kind becomes it. */
function add(state: ActivityState, key: string, kind: AgentKind, type: string, at: number): void {
  const trace = bindTrace(state, key, type, (other) => other === kind);
  putAgent(state, key, {
    kind,
    type,
    parent: "main",
    launch: null,
    started_at: at,
    last_seen_at: at,
    tools: 0,
    source: "registry",
    transcript: agentTranscript(state, key),
    ...trace,
    mode: "background",
  });
}
