/** The script that Kimi's hook starts. */

import { shellQuote, unquotedWord } from "../shell_quote.ts";

/** The lines by which the shell suite's installer and ours know each other's scripts. */
const INTERPRETER = "#!/usr/bin/env bash";
const HEADER = "# Firstmate Kimi turn-end hook.";

/** SHA-256 of the script of the suite that is known, in lower-case hex. */
const REFERENCE_DIGEST = "21659732ce13cc5a984f03cfbc2531274d518225b0775e10d2dbb6474318b370";

/** The script for one executable: silent, and never a failure to Kimi. */
export function kimiScript(executable: string): string {
  return [
    INTERPRETER,
    `${HEADER} It hands the event to turnguard and is silent.`,
    "exec >/dev/null 2>&1",
    `cd / && ${shellQuote(executable)} kimi hook`,
    "exit 0",
    "",
  ].join("\n");
}

/** Whether a script is the suite's or ours, so that ours may take its place. */
export function isKimiScript(text: string): boolean {
  const [first, second] = text.split("\n", 2);
  return first === INTERPRETER && second?.startsWith(HEADER) === true;
}

/** Whether a script is just what ours, for any executable, or the suite's is, so that it may go. */
export async function isUnchangedKimiScript(text: string): Promise<boolean> {
  const executable = unquotedWord(text.split("\n")[3]?.replace(/^cd \/ && /, "") ?? "");
  if (executable !== undefined && text === kimiScript(executable)) return true;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0"));
  return hex.join("") === REFERENCE_DIGEST;
}
