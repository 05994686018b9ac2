/** The script that stands in the place of one of the suite: one `exec` of the executable. */

import { shellQuote } from "../../harness/shell_quote.ts";
import type { SuiteScript } from "../../harness/suite_scripts.ts";

/**
 * The text of a forwarder.
 *
 * It finds the root from its own place, as the script before it did: a copy of it in another
 * checkout then speaks for that one. The process is replaced, so the pid that a lock records is the
 * one that the caller started. No program but the shell itself is needed.
 */
export function forwarder({ words, takesArguments }: SuiteScript, executable: string): string {
  const [mode = "", ...flags] = words;
  // The root of grok's hook is the session's, not the script's.
  const root = flags.includes("--grok") ? [] : ['--root "$root"'];
  const call = [shellQuote(executable), mode, ...flags, ...root];
  return [
    "#!/bin/sh",
    "# Forwards to turnguard; the script that was here comes back with",
    "# turnguard migrate --undo",
    "case $0 in",
    "  */*) folder=${0%/*} ;;",
    "  *) folder=. ;;",
    "esac",
    'root=$(cd "$folder/.." && pwd -P) || exit 1',
    `exec ${call.join(" ")}${takesArguments ? ' "$@"' : ""}`,
    "",
  ].join("\n");
}

/** Whether a script is a forwarder, of this executable or of another one. */
export function isForwarder(text: string): boolean {
  return text.startsWith("#!/bin/sh\n# Forwards to turnguard; ");
}
