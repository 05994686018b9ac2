/** The numbers that a watcher runs by, read once at its start. */

import { type GraceVariables, pollGraceSeconds } from "../decide/grace.ts";
import { type NumberSetting, numberSetting } from "../decide/number.ts";
import type { ReportRules } from "../decide/task_report.ts";
import type { Environment } from "../platform/environment.ts";

/** A watcher's settings; seconds unless the name says otherwise. */
export interface WatcherSettings {
  /** Between cycles; fractions are allowed for sleeping. */
  readonly pollSeconds: number;
  /** How long the first changed signal is waited upon for others of the same turn. */
  readonly signalGraceSeconds: number;
  /** Between sweeps of the checks; 0 is every cycle. */
  readonly checkIntervalSeconds: number;
  readonly checkTimeoutSeconds: number;
  readonly heartbeatSeconds: number;
  readonly heartbeatCapSeconds: number;
  /** Age at which a live holder of the watch lock counts as stale. */
  readonly staleGrace: NumberSetting;
  /** Age at which a stale holder is taken over. */
  readonly stallBoundSeconds: number;
  /** How long the way out waits for the recovery marker's lock. */
  readonly cleanupLimitSeconds: number;
  /** Whether this watcher continues a cycle whose wake is already on its way. */
  readonly handlingSuccessor: boolean;
  readonly reports: ReportRules;
}

/** Reads the settings; a malformed number counts as unset. */
export function watcherSettings(environment: Environment): WatcherSettings {
  const get = (name: string) => environment.get(name);
  const digits = (name: string, fallback: number) =>
    numberSetting(get(name), "digits", fallback).value;
  const positive = (name: string, fallback: number) =>
    numberSetting(get(name), "positive-digits", fallback).value;
  const staleGrace = staleGraceSetting(environment);
  return {
    pollSeconds: fraction(get("FM_POLL"), 15),
    signalGraceSeconds: fraction(get("FM_SIGNAL_GRACE"), 30),
    checkIntervalSeconds: digits("FM_CHECK_INTERVAL", 300),
    checkTimeoutSeconds: positive("FM_CHECK_TIMEOUT", 30),
    heartbeatSeconds: positive("FM_HEARTBEAT", 600),
    heartbeatCapSeconds: positive("FM_HEARTBEAT_MAX", 7200),
    staleGrace,
    stallBoundSeconds: positive("FM_WATCHER_STALL_BOUND", 3 * staleGrace.value),
    cleanupLimitSeconds: positive("FM_WATCHER_CLEANUP_LOCK_BOUND", 2),
    handlingSuccessor: get("FM_WATCH_HANDLING_SUCCESSOR") === "1",
    reports: {
      captainPattern: get("FM_CAPTAIN_RE"),
      pauseVerb: get("FM_CLASSIFY_PAUSED_VERB") ?? "paused",
    },
  };
}

/** Seconds after which a live holder counts as stale for whoever wants to watch. */
function staleGraceSetting(environment: Environment): NumberSetting {
  const variables: GraceVariables = {
    FM_GUARD_GRACE: environment.get("FM_GUARD_GRACE"),
    FM_POLL: environment.get("FM_POLL"),
  };
  const text = environment.get("FM_WATCHER_STALE_GRACE") ?? variables.FM_GUARD_GRACE;
  return numberSetting(text, "integer", pollGraceSeconds(variables));
}

/** A sleep may be a fraction; anything that is no number at or above zero is the default. */
function fraction(text: string | undefined, fallback: number): number {
  return text !== undefined && /^[0-9]+(?:\.[0-9]+)?$/.test(text) ? Number(text) : fallback;
}
