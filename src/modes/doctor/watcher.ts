/** Check of the watch lock: a watcher for another home or path proves nothing here. */

import type { WatcherFact } from "../../decide/facts.ts";
import { judgeWatcher } from "../../decide/watcher_health.ts";
import { type Check, ok, undetermined, wrong } from "./check.ts";

/**
 * Whether the recorded watcher is one of this home. That none runs is no fault of the set-up;
 * `status` tells whether one is needed.
 */
export function checkWatcher(fact: WatcherFact): Check {
  const id = "watcher";
  const health = judgeWatcher(fact);
  switch (health.kind) {
    case "healthy":
      return ok(id, `healthy: ${health.saw}`);
    case "unknown":
      return undetermined(
        id,
        `it may or may not be ours: ${health.saw}`,
        "see: turnguard explain stop",
      );
    case "down":
      break;
  }
  switch (health.because) {
    case "other-home":
      return wrong(
        id,
        `${health.saw}, but this home is ${fact.expectedHome}`,
        "give hooks and watcher the same FM_HOME or --root, letter by letter",
      );
    case "other-path":
      return wrong(
        id,
        `${health.saw}, but ${fact.expectedPath} is expected`,
        "give hooks and watcher the same --root, letter by letter",
      );
    case "malformed-pid":
    case "beacon-unreadable":
    case "not-ours-to-signal":
      return wrong(
        id,
        `${health.because}: ${health.saw}`,
        "look at state/.watch.lock: who made it, and for whom",
      );
    default:
      return ok(
        id,
        `no healthy one (${health.because}: ${health.saw}); status tells whether one is needed`,
      );
  }
}
