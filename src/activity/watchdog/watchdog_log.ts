/** The log of a watchdog: a line of JSON for everything that is decided. */

import { putFileAside } from "./put_aside.ts";

/** Bytes after which it is rotated, and old files that are kept. */
const LIMIT_BYTES = 5 * 1024 * 1024;
const KEPT = 3;

/** Where records go. */
export interface WatchdogLog {
  readonly write: (record: Readonly<Record<string, unknown>>) => void;
}

/** A log in the file at `path`; without one, records go nowhere. */
export function watchdogLog(path: string | undefined): WatchdogLog {
  if (path === undefined) return { write: () => {} };
  return {
    write: (record) => {
      const times = { t: Date.now() / 1000, m: Math.round(performance.now()) / 1000 };
      const line = new TextEncoder().encode(`${JSON.stringify({ ...times, ...record })}\n`);
      try {
        putFileAside(path, LIMIT_BYTES, KEPT);
        const file = Deno.openSync(path, { append: true, create: true, mode: 0o600 });
        using _file = file;
        file.writeSync(line);
      } catch {
        // A log is no reason to stop watching.
      }
    },
  };
}
