/** What Claude sessions are told by the guard. Other programs look for the quoted phrases. */

import { printableWithin } from "../platform/printable.ts";

/** The line of the block banner that only Claude's has. */
export const COOPERATION_LINE =
  "The Stop-owned auto-arm did not claim this home, so recovery is NOT already under way.";

/** Longest text of a message; Claude cuts a hook's output at 10,000 characters. */
const MESSAGE_LIMIT = 4_000;

/** Standard output for a turn that ends because another live session owns supervision. */
export function foreignOwnerMessage(pid: number): string {
  return systemMessage(
    "FIRSTMATE SUPERVISION IS OWNED BY ANOTHER LIVE SESSION: this read-only session cannot and " +
      `should not arm or repair the watcher (lock owner pid ${pid}). This turn may end; the owning ` +
      "session must restore supervision.",
  );
}

/** Standard output for the attended alarm. `need` says what is left unwatched. */
export function alarmMessage(need: string): string {
  return systemMessage(
    `FIRSTMATE SUPERVISION IS GENUINELY DOWN: ${need}, the Stop-owned auto-arm has used up its ` +
      "bounded retries and its one failure notice, no watcher or automatic continuation exists, " +
      "and the block budget is exhausted. Keep this session attended and diagnose the automatic " +
      "Stop-hook and watcher startup before leaving it.",
  );
}

/** Standard error for a recovery that could not be recorded; the stop is blocked. */
export function unrecordedRecovery(paths: readonly string[]): string {
  const [lock, ...files] = paths.map((path) => printableWithin(path, 500));
  return `●  SUPERVISION RECOVERY NOT RECORDED - a live watcher was verified, but the failure ` +
    `episode could not be closed: ${lock} is held or one of ${
      files.join(", ")
    } cannot be removed. ` +
    "Nothing was changed; end the turn again once that is resolved.\n";
}

function systemMessage(text: string): string {
  return `${JSON.stringify({ systemMessage: printableWithin(text, MESSAGE_LIMIT) })}\n`;
}
