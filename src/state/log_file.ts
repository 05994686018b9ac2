/** Plain logs under a state directory, bounded in bytes and lines. */

import { replaceFile } from "./replace_file.ts";

/** Bounds of a log. */
export interface LogBounds {
  /** Bytes at which the log is trimmed. */
  readonly maximumBytes: number;
  /** Lines that stay when it is. */
  readonly keptLines: number;
}

/** Appends one line; silent when it cannot, since no log may stop supervision. */
export function appendLogLine(path: string, line: string, bounds: LogBounds): void {
  try {
    Deno.writeTextFileSync(path, `${line}\n`, { append: true });
    if (Deno.statSync(path).size >= bounds.maximumBytes) trim(path, bounds);
  } catch {
    // Full or read-only: the event itself is kept elsewhere or is of no consequence.
  }
}

function trim(path: string, bounds: LogBounds): void {
  const lines = Deno.readTextFileSync(path).split("\n").filter((line) => line !== "");
  let kept = lines.slice(-bounds.keptLines);
  while (kept.length > 1 && bytesOf(kept) > bounds.maximumBytes) kept = kept.slice(1);
  replaceFile(path, kept.map((line) => `${line}\n`).join(""));
}

function bytesOf(lines: readonly string[]): number {
  return new TextEncoder().encode(lines.join("\n")).length + 1;
}

/** A moment as logs write it: local time with its offset, such as `2026-11-30T21:12:13+0100`. */
export function logTime(date: Date): string {
  const pad = (value: number, width = 2) => String(Math.abs(value)).padStart(width, "0");
  const offset = -date.getTimezoneOffset();
  const zone = `${offset < 0 ? "-" : "+"}${pad(Math.trunc(offset / 60))}${pad(offset % 60)}`;
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  const time = `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
  return `${day}T${time}${zone}`;
}
