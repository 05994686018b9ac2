/** How a watcher's life is reported: the words that scripts around a watcher look for. */

import type { StaleHolder } from "../decide/watcher_refusal.ts";
import { printable } from "../platform/printable.ts";
import type { Trace, WatcherEnd, WatcherStart } from "./watcher.ts";

/** What a watcher says when it ends, and its exit status, a stop by a signal left out. */
export interface WatcherReport {
  readonly stdout: string;
  readonly stderr: string;
  readonly status: 0 | 1;
}

/** What a watcher says once it holds the lock; usually nothing. */
export function startReport({ replaced }: WatcherStart): string {
  if (replaced === undefined) return "";
  const { pid, ageSeconds, boundSeconds } = replaced;
  return `watcher: replaced stalled pid ${pid} ` +
    `(beacon ${ageSeconds}s past hard bound ${boundSeconds}s)\n`;
}

/** The report of an end. The reason of a wake was told already, before the lock was let go. */
export function endReport(end: WatcherEnd): WatcherReport {
  switch (end.kind) {
    case "already-running": {
      const pid = end.pid === undefined ? "" : ` pid ${end.pid}`;
      return { stdout: `watcher: already running${pid}\n`, stderr: "", status: 0 };
    }
    case "holder-stale":
      return failure(`${staleness(end)}; ${INSPECT}`);
    case "holder-survived":
      return failure(`${staleness(end)}; it was sent TERM and is still there; ${INSPECT}`);
    case "bad-setting":
      // On standard output: that is where an arm looks for a failure that has been told.
      return { stdout: `watcher: FAILED - ${end.because}\n`, stderr: "", status: 1 };
    case "unsafe-start":
      return failure(`${end.because}; ${RETAINING}`);
    case "lost-lock":
      return { stdout: "", stderr: "", status: 0 };
    case "home-gone":
      return failure(`${printable(end.what)} is gone; nothing was recreated`);
    case "wake":
      return { stdout: "", stderr: traceText(end.trace), status: 0 };
    case "not-told":
      return failure("a wake could not be printed; it stays queued", end.trace);
    case "failed":
      return failure(printable(end.because), end.trace);
    case "stopped":
      return { stdout: "", stderr: traceText(end.trace), status: 0 };
  }
}

const INSPECT = "inspect or stop that watcher before re-arming.";

const RETAINING = "retaining stale lock evidence";

function failure(text: string, trace: Trace = "recorded"): WatcherReport {
  return { stdout: "", stderr: `watcher: ${text}\n${traceText(trace)}`, status: 1 };
}

function traceText(trace: Trace): string {
  return trace === "lock" ? `watcher: recovery state could not be persisted; ${RETAINING}\n` : "";
}

function staleness({ pid, ageSeconds, graceSeconds }: StaleHolder): string {
  const beat = ageSeconds === undefined
    ? "no heartbeat exists"
    : `heartbeat is stale for ${ageSeconds}s (>${graceSeconds}s)`;
  return `lock held by live pid ${pid} but ${beat}`;
}
