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
  };
}

/** The text of a budget file. */
export function formatBudget(budget: BlockBudget): string {
  return `session=${budget.session}\ncount=${budget.count}\nepoch=${budget.epoch}\n`;
}

/** Replaces the budget of `state`. Throws when it cannot be written; the old count then stands. */
export function writeBudget(state: string, budget: BlockBudget): void {
  const path = `${state}/${BUDGET_NAME}`;
  replaceFile(path, formatBudget(budget), { temporaryName: `${path}.tmp.${Deno.pid}` });
}
