/** The Stop entry that makes Codex ask turnguard at the end of each turn. */

import hookFile from "../../hooks/codex/hooks.json" with { type: "json" };
import { CODEX_STOP_TOKEN } from "./codex.ts";
import { type HookEntry, insertHook, type Insertion } from "./registration/hook_entries.ts";
import { shellQuote } from "./shell_quote.ts";

/** Codex's hook file below a home. */
export const CODEX_HOOK_FILE = ".codex/hooks.json";

/** The event that ends a turn. */
export const CODEX_STOP_EVENT = "Stop";

/** What the placeholders of the registration stand for; both are absolute paths. */
export interface CodexRegistration {
  readonly executable: string;
  readonly root: string;
}

/** The entry for one executable and one home. */
export function codexStopEntry(registration: CodexRegistration): HookEntry {
  const [group] = hookFile.hooks[CODEX_STOP_EVENT];
  const [template] = group?.hooks ?? [];
  if (template === undefined) throw new Error("hooks/codex/hooks.json has no Stop entry");
  return { ...template, command: fillIn(template.command, registration) };
}

/** Puts that entry into the text of a hook file, as {@link insertHook} promises. */
export function registerCodex(text: string, registration: CodexRegistration): Insertion {
  return insertHook(text, CODEX_STOP_EVENT, codexStopEntry(registration), CODEX_STOP_TOKEN);
}

/** One pass, so that a path which itself holds a placeholder stays what it is. */
function fillIn(command: string, { executable, root }: CodexRegistration): string {
  return command.replaceAll(
    /\{(?:TG|ROOT)\}/g,
    (placeholder) => shellQuote(placeholder === "{TG}" ? executable : root),
  );
}
