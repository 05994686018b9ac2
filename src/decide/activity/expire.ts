/** Taking out of a session's state what no longer counts. */

import { type ActivityState, count } from "./activity_state.ts";
import type { ExpiryLimits } from "./limits.ts";
import { endAgent, endLaunch, endTool } from "./session_sets.ts";

/** Seconds that a time may lie ahead before a clock must have been set back. */
const CLOCK_SLACK = 300;

/** Seconds without a sign of life after which an old agent may be given up. */
const OLD_AGENT_SILENCE = 600;

/** What an evaluation of a state needs to know. */
export interface ExpiryView {
  /** Seconds since the epoch. */
  readonly now: number;
  readonly limits: ExpiryLimits;
  /** Seconds since the epoch at which a transcript last grew; `undefined` when nobody knows. */
  readonly transcriptAt: (path: string) => number | undefined;
}

/**
 * Ends what is too old, and counts it.
 *
 * A time that lies ahead counts as now: after a clock that was set back, nothing lives longer than a
 * whole limit from then on.
 */
export function expire(state: ActivityState, view: ExpiryView): void {
  const { now, limits } = view;
  if (state.ended_at !== null) return;
  const ages = (at: number): number => Math.max(0, now - at);
  const isOver = (seconds: number, limit: number): boolean => limit > 0 && seconds >= limit;
  if (settleFuture(state, now)) count(state, "clock_backwards");
  const launchLimit = state.capabilities.has("subagent_start") ? limits.launchTtl : limits.maxAge;
  for (const [key, { at }] of [...state.launches]) {
    if (!isOver(ages(at), launchLimit)) continue;
    endLaunch(state, key, now);
    count(state, "expired");
  }
  for (const [key, agent] of [...state.agents]) {
    const shortest = Math.min(
      limits.maxSilence > 0 ? limits.maxSilence : Infinity,
      OLD_AGENT_SILENCE,
    );
    const silence = ages(agent.last_seen_at) < shortest
      ? ages(agent.last_seen_at)
      : ages(lastSign(agent.last_seen_at, agent.transcript, view));
    const isOld = isOver(ages(agent.started_at), limits.maxAge) && silence >= OLD_AGENT_SILENCE;
    if (!isOver(silence, limits.maxSilence) && !isOld) continue;
    endAgent(state, key, now, "expired");
    count(state, "expired");
  }
  for (const [key, { at }] of [...state.tools]) {
    if (!isOver(ages(at), limits.toolMax)) continue;
    endTool(state, key, now);
    count(state, "expired");
  }
}

function lastSign(seen: number, transcript: string | null, view: ExpiryView): number {
  const grown = transcript === null ? undefined : view.transcriptAt(transcript);
  return Math.max(seen, grown ?? 0);
}

/** Brings times that lie ahead back to now; whether one lay so far ahead that a clock was set. */
function settleFuture(state: ActivityState, now: number): boolean {
  let wasSet = false;
  const settled = (at: number): number => {
    if (at <= now) return at;
    wasSet ||= at > now + CLOCK_SLACK;
    return now;
  };
  for (const [key, agent] of state.agents) {
    if (agent.last_seen_at <= now && agent.started_at <= now) continue;
    state.agents.set(key, {
      ...agent,
      started_at: settled(agent.started_at),
      last_seen_at: settled(agent.last_seen_at),
    });
  }
  for (const [key, launch] of state.launches) {
    if (launch.at > now) state.launches.set(key, { ...launch, at: settled(launch.at) });
  }
  for (const [key, tool] of state.tools) {
    if (tool.at > now) state.tools.set(key, { ...tool, at: settled(tool.at) });
  }
  return wasSet;
}
