/** The scripts of a Firstmate home that a mode replaces, and the words that call it. */

/** One script. */
export interface SuiteScript {
  /** Its name below `bin/`. */
  readonly name: string;
  /** The mode and its flags. */
  readonly words: readonly string[];
  /** Whether what the script was called with is handed on. */
  readonly takesArguments: boolean;
}

/** In the order in which they are told to people. */
export const SUITE_SCRIPTS: readonly SuiteScript[] = [
  { name: "fm-turnend-guard.sh", words: ["stop"], takesArguments: true },
  { name: "fm-claude-stop-autoarm.sh", words: ["autoarm"], takesArguments: false },
  { name: "fm-turnend-guard-cursor.sh", words: ["park"], takesArguments: false },
  { name: "fm-turnend-guard-grok.sh", words: ["stop", "--grok"], takesArguments: false },
  { name: "fm-watch.sh", words: ["watch"], takesArguments: false },
  { name: "fm-watch-arm.sh", words: ["arm"], takesArguments: true },
  { name: "fm-watch-checkpoint.sh", words: ["checkpoint"], takesArguments: true },
  { name: "fm-wake-drain.sh", words: ["drain"], takesArguments: true },
  { name: "fm-guard.sh", words: ["warn"], takesArguments: false },
  { name: "fm-supervision-instructions.sh", words: ["instructions"], takesArguments: true },
  { name: "fm-check-register.sh", words: ["check-register"], takesArguments: true },
  { name: "fm-procevent.sh", words: ["procevent"], takesArguments: true },
  { name: "fm-supervise-daemon.sh", words: ["daemon"], takesArguments: false },
  { name: "fm-afk-start.sh", words: ["afk", "on"], takesArguments: true },
  { name: "fm-afk-return.sh", words: ["afk", "return"], takesArguments: true },
];

/**
 * Scripts that stay: the session's own start takes the lock with arguments of its own, and the
 * others have no mode.
 */
export const KEPT_SCRIPTS: readonly string[] = ["fm-lock.sh", "fm-harness.sh", "fm-crew-state.sh"];
