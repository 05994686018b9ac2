/**
 * A session told event by event, and what is in flight in it after each.
 *
 * @module
 */

import { applyEvent } from "../../src/decide/activity/apply_event.ts";
import { type ActivityState, emptyActivity } from "../../src/decide/activity/activity_state.ts";
import { expire } from "../../src/decide/activity/expire.ts";
import { DEFAULT_LIMITS, type ExpiryLimits } from "../../src/decide/activity/limits.ts";
import { normaliseEvent } from "../../src/decide/activity/normalise_event.ts";
import { parseActivity } from "../../src/decide/activity/parse_activity.ts";
import { formatActivity } from "../../src/decide/activity/format_activity.ts";
import { type ActivityHost, recogniseHost } from "../../src/decide/activity/recognise_host.ts";
import { inFlight } from "../../src/decide/activity/session_sets.ts";
import type { HarnessProcess } from "../../src/decide/activity/activity_state.ts";

/** A payload, as a harness sends it. */
export type Payload = Readonly<Record<string, unknown>>;

/** The session that payloads are of unless they name another. */
export const SESSION = "S1";

/** A process that a session may run in. */
export function harnessProcess(pid: number): HarnessProcess {
  return { pid, identity: `${pid}00@boot`, hostname: "here", bootId: "boot" };
}

/** A session in memory. */
export class ActivitySession {
  /** Seconds since the epoch at which the story begins. */
  static readonly start = 1_800_000_000;
  state: ActivityState = emptyActivity();
  readonly #host: ActivityHost | "auto";
  readonly #limits: ExpiryLimits;

  constructor(host: ActivityHost | "auto" = "claude", limits: Partial<ExpiryLimits> = {}) {
    this.#host = host;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
  }

  /** Tells one event at `at` seconds of the story; through the file's text, as a writer would. */
  async tell(at: number, payload: Payload, process?: HarnessProcess): Promise<this> {
    const host = recogniseHost(payload, this.#host, false);
    if (host === undefined) return this;
    const normalised = await normaliseEvent({ session_id: SESSION, ...payload }, {
      host,
      at: ActivitySession.start + at,
      event: undefined,
      session: undefined,
      launchTools: [],
      hash: (text) => Promise.resolve(text.length.toString(16).padStart(32, "0")),
    });
    if (normalised === undefined) return this;
    const state = this.#stored();
    const found = process === undefined ? {} : { process };
    applyEvent(state, { ...normalised.event, ...found, sessionKey: normalised.event.session });
    state.generation += 1;
    state.updated_at = ActivitySession.start + at;
    this.state = state;
    this.#expire(at);
    return this;
  }

  /** What is in flight at `at` seconds of the story, for whoever reads then. */
  inFlight(at: number, transcriptAt?: (path: string) => number | undefined): number {
    this.state = this.#stored();
    this.#expire(at, transcriptAt);
    return inFlight(this.state);
  }

  /** A counter of the state. */
  counter(name: Parameters<ActivityState["counters"]["get"]>[0]): number {
    return this.state.counters.get(name) ?? 0;
  }

  #stored(): ActivityState {
    if (this.state.generation === 0) return this.state;
    const parsed = parseActivity(formatActivity(this.state), 0);
    if (parsed.kind !== "state") throw new Error(`what was written is ${parsed.kind}`);
    return parsed.state;
  }

  #expire(at: number, transcriptAt?: (path: string) => number | undefined): void {
    expire(this.state, {
      now: ActivitySession.start + at,
      limits: this.#limits,
      transcriptAt: transcriptAt ?? (() => undefined),
    });
  }
}

/** A call begins. */
export function pre(id: string, tool = "Agent", rest: Payload = {}): Payload {
  return { hook_event_name: "PreToolUse", tool_name: tool, tool_use_id: id, ...rest };
}

/** A call ends. */
export function post(
  id: string,
  response: unknown = {},
  tool = "Agent",
  rest: Payload = {},
): Payload {
  return {
    hook_event_name: "PostToolUse",
    tool_name: tool,
    tool_use_id: id,
    tool_response: response,
    ...rest,
  };
}

/** A subagent starts. */
export function start(agent: string, type = "Explore"): Payload {
  return { hook_event_name: "SubagentStart", agent_id: agent, agent_type: type };
}

/** A subagent stops. */
export function stop(agent: string | undefined, rest: Payload = {}): Payload {
  const id = agent === undefined ? {} : { agent_id: agent };
  return { hook_event_name: "SubagentStop", ...id, agent_type: "Explore", ...rest };
}

/** The main turn ends. */
export function turnEnd(rest: Payload = {}): Payload {
  return { hook_event_name: "Stop", ...rest };
}

/** An item of the harness's own list of tasks. */
export function task(id: string, status = "running", type = "subagent"): Payload {
  return { id, type, status, agent_type: "Explore", description: "x" };
}

/** Result of a launch in the background. */
export function launched(agent?: string): Payload {
  return { status: "async_launched", ...(agent === undefined ? {} : { agentId: agent }) };
}

/** Result of a subagent that is done. */
export function done(agent?: string): Payload {
  return { status: "completed", ...(agent === undefined ? {} : { agentId: agent }) };
}
