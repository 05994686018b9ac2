/** What every exit status means. */

import type { HelpTable } from "../mode.ts";
import type { Topic } from "./topic.ts";

/** Statuses of hook modes. */
const HOOKS: HelpTable = {
  heading: "Modes that a harness calls:",
  rows: [
    ["0", "the turn may end; nothing to deliver; or nothing could be judged"],
    ["1", "the command line is wrong (hosts show that and carry on)"],
    ["2", "a verdict: the turn is blocked, or a wake is delivered"],
  ],
};

/** Statuses of commands for people. */
const PEOPLE: HelpTable = {
  heading: "Commands for people and scripts:",
  rows: [
    ["0", "done"],
    ["1", "failed, or something is wrong; what was left untouched is said"],
    ["2", "the command line is wrong; nothing was done"],
    ["3", "doctor, deadman run: something could not be determined; afk return: a decision is due"],
    ["64", "no mode was named, or one that does not exist"],
  ],
};

/** Statuses of the watchdog's own. */
const WATCHDOG: HelpTable = {
  heading: "watchdog, which otherwise passes its command's status on:",
  rows: [
    ["123", "it ended the command because it was idle (--idle-exit-code)"],
    ["124", "it ended the command at the wall clock's limit (--wall-exit-code)"],
    ["125", "the watchdog itself could not do its work"],
    ["126", "the command was found but could not be started"],
    ["127", "the command was not found"],
    ["128+N", "signal N ended the command, and it was not sent for a limit"],
  ],
};

/** The topic. */
export const EXIT_CODES: Topic = {
  name: "exit-codes",
  summary: "What each exit status means.",
  blocks: [
    HOOKS,
    PEOPLE,
    WATCHDOG,
    "Status 2 of a hook comes from a verdict only: an internal error, an unreadable directory or " +
    "a missed deadline allows the turn, with status 0 and a line in the decision journal. The " +
    "bare executable ends with 64, so that a harness which drops part of a registration cannot " +
    "take it for a block.",
  ],
};
