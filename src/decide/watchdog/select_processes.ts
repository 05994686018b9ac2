/** Which processes belong to a target. */

import type { Sweep } from "./watchdog_options.ts";

/** A process in the machine's table. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Start, so that a pid which is used again is another process. */
  readonly start: string;
  /** Whether it has ended and is only listed. */
  readonly ended: boolean;
}

/** What is selected by. */
export interface Selection {
  readonly target: number;
  /** The group that the target leads; `undefined` when it shares one with others. */
  readonly group: number | undefined;
  readonly sweep: Sweep;
  /** Pids that carry the run's mark. */
  readonly marked: ReadonlySet<number>;
  /** Pids that must survive. */
  readonly spared: ReadonlySet<number>;
}

/** The processes to be ended, the target among them. */
export function selectProcesses(
  table: readonly ProcessRow[],
  { target, group, sweep, marked, spared }: Selection,
): readonly ProcessRow[] {
  const tree = sweep === "group" ? new Set([target]) : descendants(table, target);
  return table.filter((row) =>
    row.pid > 1 && !row.ended && !spared.has(row.pid) &&
    (tree.has(row.pid) || (group !== undefined && row.group === group) ||
      (sweep === "marked" && marked.has(row.pid)))
  );
}

/** A process and everything below it. */
export function descendants(table: readonly ProcessRow[], root: number): ReadonlySet<number> {
  const children = new Map<number, number[]>();
  for (const { pid, parent } of table) {
    children.set(parent, [...children.get(parent) ?? [], pid]);
  }
  const found = new Set<number>();
  const open = [root];
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    if (found.has(pid)) continue;
    found.add(pid);
    open.push(...children.get(pid) ?? []);
  }
  return found;
}

/** A process and everything above it. */
export function ancestors(table: readonly ProcessRow[], pid: number): ReadonlySet<number> {
  const parents = new Map(table.map((row) => [row.pid, row.parent]));
  const found = new Set<number>();
  for (let at: number | undefined = pid; at !== undefined && !found.has(at); at = parents.get(at)) {
    found.add(at);
  }
  return found;
}
