/** From the shell suite to the executable. */

import type { Topic } from "./topic.ts";

/** The topic. */
export const MIGRATING: Topic = {
  name: "migrating",
  summary: "From the fm-*.sh scripts of a Firstmate home to this executable.",
  blocks: [
    "Every state file keeps its name and format, so scripts and executable may work in one home, " +
    "and each of them may be replaced alone.",
    {
      lines: [
        "turnguard migrate --dry-run  # what would be replaced by which mode",
        "turnguard migrate            # thin forwarders; the scripts are kept",
        "turnguard migrate --undo     # exactly as it was",
        "turnguard install claude --replace-shell --dry-run",
      ],
    },
    {
      heading: "Which mode does what a script did:",
      rows: [
        ["fm-turnend-guard.sh", "stop; with --claude or --cursor as before"],
        ["fm-claude-stop-autoarm.sh", "autoarm"],
        ["fm-turnend-guard-cursor.sh", "park"],
        ["fm-watch.sh", "watch"],
        ["fm-watch-arm.sh", "arm"],
        ["fm-watch-checkpoint.sh", "checkpoint"],
        ["fm-supervise-daemon.sh", "daemon"],
        ["fm-wake-drain.sh", "drain"],
        ["fm-guard.sh", "warn"],
        ["fm-lock.sh", "lock"],
        ["fm-check-register.sh", "check-register"],
        ["fm-procevent.sh", "procevent"],
      ],
    },
    "A forwarder is one exec, so the pid that a lock records is the pid that the caller sees.",
  ],
};
