/** The turn end of one of Kimi's workers, told to the home that started it. */

import { join } from "@std/path";
import { lineOf, readCapture, readText } from "../../platform/file_text.ts";

/** Characters of the pointer's first line that count. */
const POINTER_CHARACTERS = 256;

const TOKEN = /^token=(fm\.[A-Za-z0-9._-]{12})$/;

/**
 * Touches the marker file of the worker whose turn `payload` says has ended; does nothing for any
 * other payload.
 *
 * Only the first line of the payload counts: a payload over several lines is not one of Kimi's. A
 * worktree points to an entry of the registry below the user's folder `home`, and only that entry names
 * the marker: whoever can write into a worktree cannot name another file. Throws what the operating
 * system reports.
 */
export function wakeWorker(payload: string, home: string): void {
  const folder = workingFolder(lineOf(payload, 1));
  if (folder === undefined) return;
  const pointer = readText(join(folder, ".fm-kimi-turnend"));
  if (pointer.kind !== "text") return;
  const first = Array.from(lineOf(pointer.text, 1)).slice(0, POINTER_CHARACTERS).join("");
  const token = TOKEN.exec(first)?.[1];
  if (token === undefined) return;
  const entry = readCapture(join(home, ".kimi-code", "fm-turn-end.d", token));
  if (entry.kind !== "text") return;
  const marker = entry.text;
  if (!marker.startsWith("/") || !marker.endsWith(".turn-ended")) return;
  Deno.openSync(marker, { append: true, create: true }).close();
  const now = new Date();
  Deno.utimeSync(marker, now, now);
}

/** Where the worker works, by the payload of a turn's end. */
function workingFolder(line: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line.replaceAll("\0", ""));
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const fields = new Map<string, unknown>(Object.entries(value));
  const folder = fields.get("cwd");
  if (fields.get("hook_event_name") !== "Stop") return undefined;
  return typeof folder === "string" && folder !== "" ? folder : undefined;
}
