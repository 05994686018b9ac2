/** `.turnend-cursor-blocks`: how many repair follow-ups in a row a Cursor session was given. */

import { readText } from "../../platform/file_text.ts";
import { ownKind, targetKind } from "../../platform/path_kind.ts";
import { parseBudget } from "../../state/claude_budget.ts";
import { replaceFile } from "../../state/replace_file.ts";

/** Name of the budget file in a state directory. */
export const REPAIR_BUDGET_NAME = ".turnend-cursor-blocks";

/** Repair follow-ups that `session` was given; 0 when the file is another's, or cannot be read. */
export function repairsGiven(state: string, session: string): number {
  const content = readText(`${state}/${REPAIR_BUDGET_NAME}`);
  if (content.kind !== "text") return 0;
  const budget = parseBudget(content.text);
  return budget.session === session ? budget.count : 0;
}

/** Records that `session` is given its `count`th repair follow-up; whether that could be recorded. */
export function recordRepair(state: string, session: string, count: number): boolean {
  const path = `${state}/${REPAIR_BUDGET_NAME}`;
  if (targetKind(path) === "directory") return false;
  try {
    replaceFile(path, `session=${session}\ncount=${count}\n`);
    return true;
  } catch {
    return false;
  }
}

/** Forgets the count; whether none is left. */
export function forgetRepairs(state: string): boolean {
  const path = `${state}/${REPAIR_BUDGET_NAME}`;
  switch (ownKind(path)) {
    case "absent":
      return true;
    case "directory":
      return false;
    default:
      try {
        Deno.removeSync(path);
        return true;
      } catch {
        return ownKind(path) === "absent";
      }
  }
}
