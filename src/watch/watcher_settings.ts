/** The numbers that a watcher runs by, read once at its start. */

import { type GraceVariables, pollGraceSeconds } from "../decide/grace.ts";
import { fractionSetting, numberSetting } from "../decide/number.ts";
import type { ReportRules } from "../decide/task_report.ts";
import type { Environment } from "../platform/environment.ts";
import { type CheckSettings, checkSettings } from "./checks/cadence.ts";

/** A watcher's settings; seconds unless the name says otherwise. */
export interface WatcherSettings {
  /** Between cycles; fractions are allowed for sleeping. */
  readonly pollSeconds: number;
  /** How long the first changed signal is waited upon for others of the same turn. */
  readonly signalGraceSeconds: number;
  readonly checks: CheckSettings;
  readonly heartbeatSeconds: number;
  readonly heartbeatCapSeconds: number;
  /** Age at which a live holder of the watch lock counts as stale. */
  readonly staleGraceSeconds: number;
  /** Age at which a stale holder is taken over. */
  readonly stallBoundSeconds: number;
  /** How long the way out waits for the recovery marker's lock. */
  readonly cleanupLimitSeconds: number;
  /** Whether this watcher continues a cycle whose wake is already on its way. */
  readonly handlingSuccessor: boolean;
  readonly reports: ReportRules;
  /** Program that waits for events of the home's own, `TURNGUARD_EVENT_WAIT`. */
  readonly eventProgram: string | undefined;
  /** Size in bytes at which the log of absorbed wakes is trimmed. */
  readonly triageLogBytes: number;
}

/** A poll of nothing would keep a core busy. */
const SHORTEST_POLL_SECONDS = 0.05;

/** Reads the settings; a malformed number counts as unset. */
export function watcherSettings(environment: Environment): WatcherSettings {
  const get = (name: string) => environment.get(name);
  const positive = (name: string, fallback: number) =>
    numberSetting(get(name), "positive-digits", fallback).value;
  const staleGraceSeconds = staleGraceSetting(environment);
  return {
    pollSeconds: Math.max(SHORTEST_POLL_SECONDS, fractionSetting(get("FM_POLL"), 15)),
    signalGraceSeconds: fractionSetting(get("FM_SIGNAL_GRACE"), 30),
    checks: checkSettings(environment),
    heartbeatSeconds: positive("FM_HEARTBEAT", 600),
    heartbeatCapSeconds: positive("FM_HEARTBEAT_MAX", 7200),
    staleGraceSeconds,
    stallBoundSeconds: positive("FM_WATCHER_STALL_BOUND", 3 * staleGraceSeconds),
    cleanupLimitSeconds: positive("FM_WATCHER_CLEANUP_LOCK_BOUND", 2),
    handlingSuccessor: get("FM_WATCH_HANDLING_SUCCESSOR") === "1",
    reports: {
      captainPattern: get("FM_CAPTAIN_RE"),
      pauseVerb: get("FM_CLASSIFY_PAUSED_VERB") ?? "paused",
    },
    eventProgram: get("TURNGUARD_EVENT_WAIT"),
    triageLogBytes: positive("FM_WATCH_TRIAGE_LOG_MAX_BYTES", 262_144),
  };
}

/** Seconds after which a live holder counts as stale for whoever wants to watch. */
function staleGraceSetting(environment: Environment): number {
  const variables: GraceVariables = {
    FM_GUARD_GRACE: environment.get("FM_GUARD_GRACE"),
    FM_POLL: environment.get("FM_POLL"),
  };
  const text = environment.get("FM_WATCHER_STALE_GRACE") ?? variables.FM_GUARD_GRACE;
  return numberSetting(text, "integer", pollGraceSeconds(variables)).value;
}
