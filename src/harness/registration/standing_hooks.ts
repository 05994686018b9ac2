/** Which entries of ours stand in a hook file, as those who check it want to know. */

import type { Node } from "jsonc-parser";
import { unquotedWord } from "../shell_quote.ts";
import { type FoundEntry, type HookShape, surveyFile } from "./hook_survey.ts";
import { type Leniency, type Position, positionAt, type Refusal } from "./json_text.ts";
import { runsReference } from "./own_hooks.ts";

/** One entry of ours. */
export interface StandingHook {
  readonly event: string;
  /** Its token, such as `turnguard:claude-stop`. */
  readonly token: string;
  readonly command: string;
  /** The executable that it starts; `undefined` when the command is not as `install` writes it. */
  readonly executable: string | undefined;
  /** Seconds after which the harness ends it; `undefined` when the entry does not say. */
  readonly timeout: number | undefined;
  readonly at: Position;
  /** Whether an entry with the same event and token stands before it. */
  readonly isRepeated: boolean;
}

/** What stands in a hook file. */
export interface StandingHooks {
  readonly kind: "read";
  readonly own: readonly StandingHook[];
  /** Guards of the shell suite. */
  readonly references: readonly { readonly event: string; readonly at: Position }[];
  /** The first thing that a harness which reads strict JSON would refuse the file for. */
  readonly leniency: Leniency | undefined;
}

/**
 * Reads the hook file `text`; `shape` is that of its harness. Refuses, at the place that is wrong, what
 * is no hook file.
 */
export function standingHooks(text: string, shape: HookShape): StandingHooks | Refusal {
  const survey = surveyFile(text, shape);
  if (survey.kind === "refused") return survey;
  const own: StandingHook[] = [];
  for (const found of survey.entries) {
    const token = /(?:^|\s): (turnguard:[a-z0-9-]+)/.exec(found.command)?.[1];
    if (token === undefined) continue;
    const { event, command, node } = found;
    own.push({
      event,
      token,
      command,
      executable: executableIn(command),
      timeout: timeoutOf(node),
      at: positionAt(text, node.offset),
      isRepeated: own.some((earlier) => earlier.event === event && earlier.token === token),
    });
  }
  const references = survey.entries.filter(isReference)
    .map(({ event, node }) => ({ event, at: positionAt(text, node.offset) }));
  return { kind: "read", own, references, leniency: survey.leniency };
}

function isReference({ command }: FoundEntry): boolean {
  return !/(?:^|\s): turnguard:/.test(command) && runsReference(command);
}

function executableIn(command: string): string | undefined {
  const at = command.indexOf(" exec ");
  return at < 0 ? undefined : unquotedWord(command.slice(at + " exec ".length));
}

function timeoutOf(entry: Node): number | undefined {
  const value: unknown = (entry.children ?? [])
    .find((property) => property.children?.[0]?.value === "timeout")?.children?.[1]?.value;
  return typeof value === "number" ? value : undefined;
}
