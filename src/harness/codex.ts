/** Codex: its project hook file. */

import { readText } from "../platform/file_text.ts";
import { targetKind } from "../platform/path_kind.ts";

/** Token by which our Stop entry is recognised in `.codex/hooks.json`. */
export const CODEX_STOP_TOKEN = "turnguard:codex-stop";

/** Name of the shell suite's guard, whose registration anchors a root as well. */
const REFERENCE_GUARD = "fm-turnend-guard.sh";

/** Whether `root` is a home whose own Codex hook file registers a turn-end guard. */
export function isHookBearingRoot(root: string): boolean {
  if (targetKind(`${root}/AGENTS.md`) !== "file") return false;
  const file = readText(`${root}/.codex/hooks.json`);
  return file.kind === "text" && stopCommands(file.text).some(isGuardCommand);
}

function isGuardCommand(command: string): boolean {
  return command.includes(CODEX_STOP_TOKEN) || command.includes(REFERENCE_GUARD);
}

/** Every string that stands as a Stop command in the text of a hook file. */
function stopCommands(text: string): readonly string[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [];
  }
  return list(field(field(value, "hooks"), "Stop"))
    .flatMap((group) => list(field(group, "hooks")))
    .map((handler) => field(handler, "command"))
    .filter((command) => typeof command === "string");
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
