/** What turnguard may do, and what that protects. */

import type { Topic } from "./topic.ts";

/** The topic. */
export const SECURITY: Topic = {
  name: "security",
  summary: "What it may do, and what that protects and does not protect.",
  blocks: [
    "turnguard runs as you, with the rights that your harness has. Its permissions are baked into " +
    "the executable; no flag, variable or file widens them, and it never asks.",
    {
      heading: "What is baked in:",
      rows: [
        ["read, write", "all files that you may read and write; read-only modes give writing up"],
        ["run", "programs, and signals to processes; modes that need neither give it up"],
        ["environment", "the variables of help environment; all others read as unset"],
        ["network", "never: no socket can be opened"],
        ["native code", "never: no library is loaded"],
        ["system", "never: no host name, user or interface list"],
      ],
    },
    "That limits the damage of a mistake in turnguard itself. It is no sandbox: a program that it " +
    "starts (your checks, your watchdog's command, your deadman's command) can do what you can do.",
    "Nothing from a payload or a state file is executed, used as a path without being checked, or " +
    "shown on a terminal unescaped. Programs are started by absolute path with a small " +
    "environment. A custom check runs only while its bytes are those that you registered. State " +
    "files are replaced whole; files that somebody else owns, links and devices in their places " +
    "are not written through.",
    "It does not protect against somebody who can write your home's files or your harness's " +
    "configuration: they can also take the hook out. LD_PRELOAD and its like work on it as on any " +
    "program. A hook cannot speak once its harness is gone: deadman can, from outside.",
    "A signal is sent only to a process whose identity (start time and command line) is what was " +
    "recorded; what cannot be told is neither killed nor taken over.",
    "To check a file that you were given: sha256sum -c SHA256SUMS, then turnguard doctor --self, " +
    "which prints the permissions it was built with and fails when they are others.",
  ],
};
