/** What a watchdog says at its end. */

import {
  countedSubagents,
  type EndRecord,
  type LookRecord,
  markerOf,
  type RunIdentity,
} from "./run_record.ts";
import type { ProgressCounts } from "./progress_watch.ts";
import type { WatchEnd } from "./watch_target.ts";

/** One line for a person, in words that a script can split at blanks. */
export function summaryLine(run: RunIdentity, { end, look }: WatchEnd): string {
  const words: Readonly<Record<string, string | number>> = {
    reason: end.reason,
    exit: end.exitCode ?? 125,
    idle_s: Math.round(look.idleFor),
    wall_s: Math.round(look.wallFor),
    tool_calls: look.state?.tool_call_count ?? 0,
    subagents: countedSubagents(look),
    expired: look.expired.length,
    signals: end.signals.join(",") || "none",
    left_running: end.leftRunning,
    session: look.state?.session_key || "none",
    marker: run.marker,
  };
  const pairs = Object.entries(words).map(([name, value]) => `${name}=${value}`);
  return `turnguard-watchdog: ${pairs.join(" ")}`;
}

/** Everything, for a machine. */
export function summaryObject(
  run: RunIdentity,
  watched: WatchEnd,
  counts: ProgressCounts,
): Readonly<Record<string, unknown>> {
  const { end, look, totals }: {
    readonly end: EndRecord;
    readonly look: LookRecord;
    readonly totals: WatchEnd["totals"];
  } = watched;
  return {
    ...markerOf(run, look, end, "done"),
    started_at: run.startedAt,
    ended_at: Date.now() / 1000,
    signal_sources: counts,
    holds_total_s: totals.holdSeconds,
    polls: totals.polls,
    gaps: totals.gaps,
    clock_jumps: totals.jumps,
    cancelled_kills: totals.cancelled,
    left_running: end.leftRunning,
    version: run.version,
  };
}
