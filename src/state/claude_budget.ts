/** `.turnend-claude-blocks`: how often this session's turn ends have been blocked in a row. */

import { lineOf } from "../platform/file_text.ts";
import { replaceFile } from "./replace_file.ts";

/** Name of the budget file in a state directory. */
export const BUDGET_NAME = ".turnend-claude-blocks";

/** One session's count. */
export interface BlockBudget {
  readonly session: string;
  readonly count: number;
  /** Ledger epoch at the last accounting; empty without a ledger. */
  readonly epoch: string;
  /** The stop that was charged last; `undefined` in a file that another writer made. */
  readonly charge: Charge | undefined;
}

/** Which stop was charged, so that its second delivery is known for what it is. */
export interface Charge {
  /** Hash of the payload that announced the stop. */
  readonly event: string;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  /** The guard process that charged. */
  readonly pid: number;
}

/** The budget in a file's text. A line without its key is empty, and extra lines are ignored. */
export function parseBudget(text: string): BlockBudget {
  const value = (line: number, key: string) => {
    const content = lineOf(text, line);
    return content.startsWith(`${key}=`) ? content.slice(key.length + 1) : "";
  };
  const count = value(2, "count");
  return {
    session: value(1, "session"),
    count: /^[0-9]{1,15}$/.test(count) ? Number(count) : 0,
    epoch: value(3, "epoch"),
    charge: parseCharge(value(4, "charge")),
  };
}

function parseCharge(text: string): Charge | undefined {
  const [, event, atMs, pid] = /^([0-9a-f]+) ([0-9]{1,15}) ([0-9]{1,10})$/.exec(text) ?? [];
  if (event === undefined || atMs === undefined || pid === undefined) return undefined;
  return { event, atMs: Number(atMs), pid: Number(pid) };
}

/** The text of a budget file. */
export function formatBudget(budget: BlockBudget): string {
  const { session, count, epoch, charge } = budget;
  // Readers of the three-line form ignore what follows.
  const fourth = charge === undefined
    ? ""
    : `charge=${charge.event} ${charge.atMs} ${charge.pid}\n`;
  return `session=${session}\ncount=${count}\nepoch=${epoch}\n${fourth}`;
}

/** Replaces the budget of `state`. Throws when it cannot be written; the old count then stands. */
export function writeBudget(state: string, budget: BlockBudget): void {
  replaceFile(`${state}/${BUDGET_NAME}`, formatBudget(budget));
}
