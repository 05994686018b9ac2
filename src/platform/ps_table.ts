/** Listings of `ps` joined into one table of processes. */

import { parsePid, type Pid } from "./pid.ts";
import type { ProcessInfo } from "./process_info.ts";

interface Row {
  readonly parent: Pid | undefined;
  readonly rest: string;
}

/**
 * Joins the listing `pid ppid comm` with the listing `pid ppid args`.
 *
 * A process that is in one listing only has come or gone in between and is left out; so is a line
 * that does not start with two numbers, such as the usage text of a `ps` that knows none of this.
 */
export function parsePsTable(commands: string, args: string): ReadonlyMap<Pid, ProcessInfo> {
  const table = new Map<Pid, ProcessInfo>();
  const argsOf = new Map(rows(args));
  for (const [pid, { parent, rest: command }] of rows(commands)) {
    const line = argsOf.get(pid)?.rest;
    if (line === undefined) continue;
    table.set(pid, { pid, parent, command, args: line, argv0: line.split(" ")[0] ?? "" });
  }
  return table;
}

function* rows(listing: string): Generator<[Pid, Row]> {
  for (const line of listing.split("\n")) {
    const match = /^ *([0-9]+) +([0-9]+) (.*)$/.exec(line);
    const pid = parsePid(match?.[1] ?? "");
    if (match === null || pid === undefined) continue;
    yield [pid, { parent: parsePid(match[2] ?? ""), rest: (match[3] ?? "").trimEnd() }];
  }
}
