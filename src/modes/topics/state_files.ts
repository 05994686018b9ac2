/** The files below a home's state directory. */

import type { Topic } from "./topic.ts";

/** The topic. */
export const STATE_FILES: Topic = {
  name: "state-files",
  summary: "The files under state/: what each is, and who writes it.",
  blocks: [
    "turnguard reads and writes the files of a Firstmate home as its scripts do. A file is " +
    "replaced whole or appended to in one write, so a reader never sees half of it. What belongs " +
    "to a live process must not be removed by hand; everything else may be looked at freely.",
    {
      heading: "Work that needs supervision:",
      rows: [
        ["ID.meta", "a task in flight"],
        ["ID.status", "its reports; a new line is a signal"],
        ["ID.check.sh", "a custom check"],
        [".check-trust", "which checks may run, by the bytes that were registered"],
        ["ID.source", "a process-event source (procevent)"],
        ["ID.turn-ended", "a task's agent has ended its turn"],
      ],
    },
    {
      heading: "The watcher:",
      rows: [
        [".watch.lock", "which process watches: pid, identity, home, path"],
        [".last-watcher-beat", "its beacon: the file's time is its last beat"],
        [".watcher-down", "a stretch without one: the marker of a recovery"],
        [".last-check", "when the checks last ran"],
        [".last-heartbeat", "when the last heartbeat was sent"],
        [".heartbeat-streak", "how many of them nobody answered"],
        [".watch-deliveries.log", "what was delivered to whom"],
        [".watch-cycle-exits.log", "how each watch ended"],
        [".watch-cycle-links", "which watch followed which"],
        [".wake-queue", "what nobody has acknowledged yet"],
      ],
    },
    {
      heading: "The session and its turns:",
      rows: [
        [".lock", "which session owns the home (lock)"],
        [".lock-session", "its conversation"],
        [".claude-autoarm-epoch", "the ledger of claims between guard and auto-arm"],
        [".turnend-claude-blocks", "how often this session was blocked in a row"],
        [".claude-autoarm-failure-notified", "an episode of failure was told to the session"],
        [".claude-autoarm-failure-alarmed", "and to a person"],
        [".guard-watcher-stale-banner", "the pull warning's banner was shown"],
        [".cursor-park-owner", "which of Cursor's parks came last; the others leave"],
        [".cursor-park-owner.lock", "its lock, which away mode takes too"],
        [".turnend-cursor-blocks", "how many repairs in a row a Cursor session was asked for"],
        [".turnguard-park-event", "which stop the last park was started for"],
        [".pi-watch-extension-loaded", "Pi's watch extension is loaded"],
        [".pi-turnend-extension-loaded", "Pi's guard extension is loaded"],
        [".omp-watch-extension-loaded", "omp's watch extension is loaded"],
        [".omp-turnend-extension-loaded", "omp's guard extension is loaded"],
      ],
    },
    {
      heading: "Away and quiet mode:",
      rows: [
        [".afk", "the mode: away or quiet"],
        [".supervise-daemon.lock", "the daemon, with its identity"],
        [".supervise-daemon.pid", "its pid, for scripts"],
        [".subsuper-escalations", "the digest that waits to be delivered"],
        [".subsuper-inject-wedged", "an alarm about one that cannot be"],
        [".subsuper-last-scan", "when it last looked at the tasks"],
        [".subsuper-last-housekeep", "when it last tidied up"],
        [".afk-return-catchup", "what waits for a decision after a return"],
      ],
    },
    {
      heading: "turnguard's own:",
      rows: [
        [".turnguard-journal.jsonl", "every verdict; at most two files of 1 MiB, mode 0600"],
        [".turnguard-home", "a home that was made by turnguard init"],
        [".turnguard-originals", "scripts that forwarders stand for (migrate)"],
        [".turnguard-adapter-failure", "a plugin reports that it failed"],
      ],
    },
  ],
};
