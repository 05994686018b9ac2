/**
 * Statuses of homes that nobody observed, for tables of how they are rendered.
 *
 * @module
 */

import type { Home } from "../../src/observe/home.ts";
import type { HomeStatus, Judged, StateReport } from "../../src/modes/status_report.ts";

/** A home with this path. */
export function homeAt(path: string): Home {
  return {
    root: path,
    home: path,
    state: `${path}/state`,
    config: `${path}/config`,
    watcherPath: `${path}/bin/fm-watch.sh`,
    foundBy: "--root",
  };
}

/** A home in which nothing goes on. */
export const QUIET_STATE: StateReport = {
  need: { kind: "counted", tasks: 0, sources: 0, checks: 0, relay: false },
  watcher: {
    health: { kind: "down", because: "unheld", saw: "nobody holds the lock" },
    pid: null,
  },
  beacon: { kind: "never" },
  beat: { kind: "never" },
  graceSeconds: 300,
  awayMode: "off",
  daemon: { kind: "does-not", because: "mode-off", saw: "away mode is off" },
  digest: { items: 0, oldestSeconds: null, because: null, wedged: false },
  session: { kind: "none" },
  claim: {
    kind: "none",
    epoch: null,
    ownerPid: null,
    outcome: null,
    ageSeconds: null,
    because: "no-entry",
  },
  episode: { blocks: null, budget: 3, noticed: false, alarmed: false },
  queue: {
    pending: 0,
    reserved: 0,
    unusable: 0,
    oldestSeconds: null,
    because: null,
    recovery: { kind: "none" },
  },
  checks: {
    counts: { "trusted": 0, "relay": 0, "changed": 0, "rejected": 0, "missing": 0, "left-out": 0 },
    because: null,
  },
  sources: {
    registered: 0,
    rejected: 0,
    running: 0,
    doubtful: 0,
    unhandled: 0,
    because: null,
  },
  recent: [],
  blindEnd: undefined,
};

/** What the guard makes of such a home. */
export const QUIET_JUDGED: Judged = {
  scope: { kind: "in", because: "primary checkout" },
  verdict: { kind: "allow", code: "no-need" },
  notices: [],
};

/** The status of a home at `path` that differs from a quiet one by these parts. */
export function told(
  path: string,
  state: Partial<StateReport> = {},
  judged: Partial<Judged> = {},
): HomeStatus {
  return {
    home: homeAt(path),
    problem: null,
    judged: { ...QUIET_JUDGED, ...judged },
    state: { ...QUIET_STATE, ...state },
  };
}

/** The status of a home whose state directory cannot be listed. */
export function untold(path: string, problem: string): HomeStatus {
  return { home: homeAt(path), problem, judged: null, state: null };
}
