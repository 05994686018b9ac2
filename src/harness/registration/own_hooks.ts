/** What of ours belongs into a hook file, and how it is found again. */

import type { JsonValue } from "./layout.ts";

/** One entry of a hook file. */
export type HookEntry = { readonly [name: string]: JsonValue };

/** An entry of ours. */
export interface OwnEntry {
  /** The words in its command by which it is found again. */
  readonly token: string;
  readonly entry: HookEntry;
  /** Scripts of the shell suite that do the same; an entry that runs one can be replaced by it. */
  readonly replaces?: readonly string[];
}

/** Entries of ours that stand together. */
export interface OwnGroup {
  readonly event: string;
  /** What the group is limited to, where it is; entries without groups have none. */
  readonly matcher?: string | undefined;
  readonly entries: readonly OwnEntry[];
}

/** Scripts of the shell suite that guard the end of a turn. */
export const REFERENCE_SCRIPTS: readonly string[] = [
  "fm-turnend-guard.sh",
  "fm-claude-stop-autoarm.sh",
  "fm-turnend-guard-cursor.sh",
  "fm-turnend-guard-grok.sh",
];

/** Whether a command carries a token, and not a longer one that begins alike. */
export function hasToken(command: string, token: string): boolean {
  for (let at = command.indexOf(token); at >= 0; at = command.indexOf(token, at + 1)) {
    if (!/^[a-z0-9-]/.test(command.slice(at + token.length))) return true;
  }
  return false;
}

/** Whether a command runs one of the suite's guards. */
export function runsReference(command: string): boolean {
  return REFERENCE_SCRIPTS.some((script) => command.includes(script));
}

/** A test that later builds of the suite put before their commands: workers of a task are not guarded. */
const WORKER_TEST =
  /\[ (?:-z "\$\{?FM_TASK_ID(?::-)?\}?" \] \|\||-n "\$\{?FM_TASK_ID(?::-)?\}?" \] &&) exit 0; /;

/**
 * `own` as it should stand in place of an entry with `command`: with that command's test for the
 * suite's own workers, if it had one.
 */
export function inPlaceOf(command: string, { token, entry }: OwnEntry): HookEntry {
  const test = WORKER_TEST.exec(command)?.[0];
  const own = entry["command"];
  if (test === undefined || typeof own !== "string") return entry;
  const start = `: ${token}; `;
  return { ...entry, command: own.replace(start, () => `${start}${test}`) };
}
