/** How the idle watchdog decides. */

import type { Topic } from "./topic.ts";

/** The topic. */
export const IDLE: Topic = {
  name: "idle",
  summary: "How the watchdog tells an idle agent from one that waits for others.",
  blocks: [
    "A flat timeout kills an agent exactly when it has delegated most: while its subagents work, " +
    "it makes no call of its own. turnguard watchdog counts the silence only while nothing that " +
    "the session started is still running.",
    {
      lines: [
        "turnguard install claude --activity   # once: the activity hooks",
        "turnguard watchdog --idle-timeout 10m -- claude -p 'the task'",
        "turnguard watchdog list --watch       # all of them, live",
      ],
    },
    {
      heading: "What holds the clock (it starts anew when the last hold ends):",
      rows: [
        ["subagents", "a subagent is in flight, also one that was sent to the background"],
        ["tools", "a tool call is running"],
        ["human", "the session asks a person who is there to answer"],
        ["crons", "the harness has a timer of its own pending"],
        ["shells", "background shells run (off unless it is named in --hold)"],
        ["supervised", "a live watcher of this machine will wake the session"],
      ],
    },
    "Each of them has an upper bound, so that a lost event cannot keep a dead session for ever. " +
    "Time in which the machine sleeps does not count, and a clock that is set moves nothing.",
    "Before the first signal it writes a marker file that says why; after that it ends the whole " +
    "tree of processes and reports in one line. Exit status 123 means idle, 124 the wall clock; " +
    "see help exit-codes.",
    "A record that cannot be trusted (foreign owner, link, torn) never leads to a kill.",
  ],
};
