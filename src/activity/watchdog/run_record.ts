/** What a watchdog writes down about one target: marker, heartbeat, summary. */

import type { ActivityState } from "../../decide/activity/activity_state.ts";
import { inFlight } from "../../decide/activity/session_sets.ts";
import type { Hold } from "../../decide/watchdog/judge_holds.ts";
import type { WatchdogOptions } from "../../decide/watchdog/watchdog_options.ts";
import { putFile } from "../put_file.ts";
import type { Target } from "./target.ts";

/** Why watching ended. */
export type EndReason = "idle" | "wall" | "signal" | "exited";

/** What is the same through the whole run. */
export interface RunIdentity {
  /** The activity file that companions are named after. */
  readonly file: string;
  readonly marker: string;
  readonly killMarker: string | undefined;
  readonly runId: string | null;
  readonly target: Target;
  /** The watchdog's own start and boot. */
  readonly ownIdentity: string | undefined;
  readonly hostname: string | null;
  readonly options: WatchdogOptions;
  readonly startedAt: number;
  readonly version: string;
}

/** What one look knows. */
export interface LookRecord {
  readonly state: ActivityState | undefined;
  readonly idleFor: number;
  readonly wallFor: number;
  readonly holds: readonly (Hold & { readonly since: number })[];
  readonly killIn: number | undefined;
  readonly expired: readonly string[];
  readonly signal: "seen" | "none" | "degraded";
}

/** How an end was brought about. */
export interface EndRecord {
  readonly reason: EndReason;
  readonly detail: string;
  readonly decidedAt: number;
  readonly signals: readonly string[];
  readonly killed: boolean | null;
  readonly exitCode: number | null;
  readonly leftRunning: number;
}

/** The keys of a marker; `phase` is `decided` before the first signal and `done` at the end. */
export function markerOf(
  run: RunIdentity,
  look: LookRecord,
  end: EndRecord,
  phase: "decided" | "done",
): Readonly<Record<string, unknown>> {
  const { state } = look;
  return {
    schema: "turnguard.marker/1",
    reason: end.reason,
    phase,
    detail: end.detail,
    decided_at: rounded(end.decidedAt),
    done_at: phase === "done" ? rounded(Date.now() / 1000) : null,
    run_id: run.runId,
    mode: run.target.mode,
    pid: run.target.pid,
    pgid: run.target.group ?? null,
    pid_identity: run.target.identity ?? null,
    session_id: state?.session_id || null,
    session_key: state?.session_key || null,
    host: state?.host ?? null,
    idle_for_s: rounded(look.idleFor),
    wall_for_s: rounded(look.wallFor),
    last_tool_call_at: state?.last_tool_call_at ?? null,
    tool_call_count: state?.tool_call_count ?? 0,
    subagents_in_flight: countedSubagents(look),
    last_tool: state?.last_event?.tool ?? null,
    turn: state?.turn ?? null,
    waiting: Object.fromEntries(state?.waiting ?? []),
    holds: look.holds.map(({ name }) => name),
    agents: state === undefined ? [] : [...state.agents.keys()],
    expired_agents: look.expired,
    signals_sent: end.signals,
    killed: end.killed,
    exit_code: end.exitCode,
  };
}

/** Subagents of a look, without those that are still listed and no longer count. */
export function countedSubagents({ state, expired }: LookRecord): number {
  if (state === undefined) return 0;
  return inFlight(state) -
    expired.filter((key) => state.agents.has(key) || state.launches.has(key)).length;
}

/** Writes the marker. Never throws; `false` when it could not. */
export function writeMarker(run: RunIdentity, fields: Readonly<Record<string, unknown>>): boolean {
  return put(run.marker, fields);
}

/** Writes the heartbeat. Never throws. */
export function writeHeartbeat(
  run: RunIdentity,
  look: LookRecord,
  state: "watching" | "holding" | "killing" | "done",
  end?: Pick<EndRecord, "reason" | "exitCode">,
): void {
  const { options, target } = run;
  put(`${run.file}.watchdog.json`, {
    schema: "turnguard.watchdog/1",
    pid: Deno.pid,
    pid_identity: run.ownIdentity ?? null,
    hostname: run.hostname,
    run_id: run.runId,
    mode: target.mode,
    target: { pid: target.pid, pgid: target.group ?? null, identity: target.identity ?? null },
    state,
    heartbeat_at: rounded(Date.now() / 1000),
    poll_s: options.poll,
    idle_timeout_s: options.idleTimeout,
    wall_timeout_s: options.wallTimeout,
    idle_for_s: rounded(look.idleFor),
    wall_for_s: rounded(look.wallFor),
    holds: look.holds.map(({ name, since, detail }) => ({ name, since: rounded(since), detail })),
    kill_in_s: look.killIn === undefined ? null : rounded(look.killIn),
    signal: look.signal,
    activity_file: run.file,
    session_key: look.state?.session_key || null,
    reason: end?.reason ?? null,
    exit_code: end?.exitCode ?? null,
  });
}

function put(path: string, fields: Readonly<Record<string, unknown>>): boolean {
  try {
    putFile(path, `${JSON.stringify(fields)}\n`);
    return true;
  } catch {
    return false;
  }
}

function rounded(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
