/** `.heartbeat-streak`: how many heartbeats in a row had nothing to tell. */

import { readCapture } from "../platform/file_text.ts";

const STREAK_NAME = ".heartbeat-streak";

/** The recorded streak; 0 when none is. */
export function readStreak(state: string): number {
  const content = readCapture(`${state}/${STREAK_NAME}`);
  return content.kind === "text" && /^[0-9]{1,9}$/.test(content.text) ? Number(content.text) : 0;
}

/** Records the streak; silent when it cannot, since only the pace of heartbeats depends on it. */
export function writeStreak(state: string, streak: number): void {
  try {
    Deno.writeTextFileSync(`${state}/${STREAK_NAME}`, `${streak}\n`);
  } catch {
    // The next heartbeat comes at another time than it would have.
  }
}
