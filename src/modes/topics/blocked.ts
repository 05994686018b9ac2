/** Why a turn was blocked, and what to do about it. */

import type { WatcherFault } from "../../decide/watcher_health.ts";
import type { Topic } from "./topic.ts";

/** What each reason asks for; a reason without a line does not compile. */
const FAULTS: Readonly<Record<WatcherFault | "identity-unknown", string>> = {
  "unheld": "nobody holds the watch lock, so nothing watches: arm",
  "dead": "the process in the lock has ended: arm",
  "pid-reused": "that pid is another process by now: arm",
  "malformed-pid": "the lock holds no pid: arm",
  "identity-not-recorded": "the lock does not say which process that pid was: arm",
  "not-ours-to-signal": "the process in the lock is another user's: end it there",
  "other-home": "the lock was written for another home",
  "other-path": "the lock was written by another watcher of this home",
  "beacon-stale": "a watcher lives but has not beaten for the grace: arm replaces it",
  "beacon-never": "it has not beaten at all yet",
  "beacon-unreadable": "its beacon cannot be read: look at the folder's rights",
  "clock-skew": "the last beat lies in the future: set the clock right",
  "identity-unknown": "who holds the lock cannot be told; nothing passes for proof",
};

/** The topic. */
export const BLOCKED: Topic = {
  name: "blocked",
  summary: "Why was my turn blocked, and what do I do?",
  blocks: [
    "A turn was about to end while something of this home was still running, and nothing would " +
    "have noticed its end: TURN WOULD END BLIND. The session would have sat idle until somebody " +
    "looked. So the end was blocked once, and the session was told how to have its work watched.",
    {
      heading: "The banner has three lines that matter:",
      rows: [
        ["what runs", "a task, an event source, a custom check or the relay; how many"],
        ["last beat", "how long ago a watcher of this home last proved that it lives"],
        ["the repair", "what this session, under its harness, is to do now"],
      ],
    },
    "What to do, in the session:",
    {
      lines: [
        "turnguard arm         # as a background task of the session, never with &",
        "turnguard wake drain  # when it ends: what happened, and how to",
        "                      # acknowledge it; then arm again",
      ],
    },
    "Claude Code with turnguard install claude needs no command: its auto-arm watches while the " +
    "session is idle. A block there says that the auto-arm did not run or failed, and why.",
    "What to do, as a person:",
    {
      lines: [
        "turnguard explain stop  # each rule, what it saw, and which one decided",
        "turnguard status        # the home on one screen",
        "turnguard doctor        # registrations, machine, clock; what to do",
        "turnguard log           # every verdict that was given",
      ],
    },
    {
      heading: "What the watcher rule says when it blocks (explain, log):",
      rows: Object.entries(FAULTS),
    },
    "If nothing is to be watched any more, say so: turnguard task done ID, check remove ID, " +
    "procevent retire ID. If nobody is there and a daemon shall supervise: turnguard afk on.",
    "A turn is blocked at most once in a row; the end after it is allowed (with Claude's " +
    "cooperation, up to FM_CLAUDE_TURNEND_BLOCK_BUDGET times, then one alarm). Whatever cannot be " +
    "judged is allowed. This guard cannot wedge a session.",
  ],
};
