/** The numbers and programs that the away daemon runs by, read once at its start. */

import { DEFAULT_SKIP } from "../../decide/daemon_wake.ts";
import type { RestartSettings } from "../../decide/daemon_restart.ts";
import { numberSetting } from "../../decide/number.ts";
import type { ReportRules } from "../../decide/task_report.ts";
import type { Environment } from "../../platform/environment.ts";
import type { LogBounds } from "../../state/log_file.ts";
import { watcherSettings } from "../watcher_settings.ts";

/** A daemon's settings; seconds unless the name says otherwise. */
export interface DaemonSettings {
  /** How long the first item waits for others; 0 delivers at once. */
  readonly batchSeconds: number;
  /** Age of an item at which somebody is alarmed; 0 never. */
  readonly maximumDeferSeconds: number;
  /** Between two looks at every status log. */
  readonly scanSeconds: number;
  readonly housekeepingSeconds: number;
  /** Prefixes of payloads that are skipped, separated by `|`. */
  readonly skip: string;
  readonly restart: RestartSettings;
  readonly log: LogBounds;
  readonly alarmTimeoutSeconds: number;
  readonly alarmChannel: string | undefined;
  /** Program that replaces every channel of the alarm. */
  readonly alarmProgram: string | undefined;
  /** Program that hands a digest to the session. */
  readonly deliver: string | undefined;
  readonly reports: ReportRules;
}

/** Reads the settings; a malformed number counts as unset. */
export function daemonSettings(environment: Environment): DaemonSettings {
  const get = (name: string): string | undefined => environment.get(name);
  const digits = (name: string, fallback: number): number =>
    numberSetting(get(name), "digits", fallback).value;
  const positive = (name: string, fallback: number): number =>
    numberSetting(get(name), "positive-digits", fallback).value;
  return {
    batchSeconds: digits("FM_ESCALATE_BATCH_SECS", 90),
    maximumDeferSeconds: digits("FM_MAX_DEFER_SECS", 300),
    scanSeconds: digits("FM_HEARTBEAT_SCAN_SECS", 300),
    housekeepingSeconds: positive("FM_HOUSEKEEPING_TICK", 15),
    skip: get("FM_INJECT_SKIP") ?? DEFAULT_SKIP,
    restart: {
      windowSeconds: positive("FM_CRASH_WINDOW", 60),
      threshold: digits("FM_CRASH_THRESHOLD", 10),
      normalSeconds: digits("FM_CRASH_NORMAL_SLEEP", 5),
      backoffSeconds: digits("FM_CRASH_BACKOFF", 60),
    },
    log: {
      maximumBytes: positive("FM_LOG_MAX_BYTES", 1_048_576),
      keptLines: positive("FM_LOG_KEEP_LINES", 2_000),
    },
    alarmTimeoutSeconds: positive("FM_WEDGE_ALARM_TIMEOUT_SECS", 10),
    alarmChannel: get("FM_WEDGE_ALARM_CHANNEL"),
    alarmProgram: get("FM_WEDGE_ALARM_EXEC"),
    deliver: get("TURNGUARD_DELIVER"),
    reports: watcherSettings(environment).reports,
  };
}
