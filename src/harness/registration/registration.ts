/** What registering with a harness means: which file, which entries, and what the harness asks for. */

import { shellQuote } from "../shell_quote.ts";
import type { JsonValue } from "./layout.ts";
import { type HookEntry, insertHooks, type Insertion, type OwnEntry } from "./hook_entries.ts";

/** A harness that `install` knows. */
export interface Registration {
  /** The word that names it on a command line. */
  readonly harness: string;
  /** Its hook file below a home. */
  readonly file: string;
  /** The hook file that is merged into that one, with placeholders in it. */
  readonly template: HookTemplate;
  /** What it wants before it runs the hooks. */
  readonly trust: string;
  /** What a changed entry costs, one sentence or none. */
  readonly afterUpdate: readonly string[];
  /** What `help install` says about it. */
  readonly details: string;
  /**
   * Why it would run no hook all the same, as a sentence; `read` gives the text of a file below the
   * home.
   */
  readonly obstacle?: (read: (file: string) => string | undefined) => string | undefined;
}

/** The event that ends a turn. */
export const STOP_EVENT = "Stop";

/** A hook file of ours. */
export interface HookTemplate {
  readonly hooks: {
    readonly [STOP_EVENT]: readonly { readonly hooks: readonly EntryTemplate[] }[];
  };
}

interface EntryTemplate {
  readonly type: string;
  readonly command: string;
  readonly timeout?: number | undefined;
  readonly asyncRewake?: boolean | undefined;
}

/** What the placeholders stand for; both are absolute paths. */
export interface RegisteredPaths {
  readonly executable: string;
  readonly root: string;
}

/** The entries for one executable and one home. */
export function ownEntries({ template }: Registration, paths: RegisteredPaths): OwnEntry[] {
  return template.hooks[STOP_EVENT].flatMap(({ hooks }) => hooks).map((entry) => ({
    token: tokenOf(entry.command),
    entry: filledIn(entry, paths),
  }));
}

/** Puts those entries into the text of a hook file, as {@link insertHooks} promises. */
export function register(
  text: string,
  registration: Registration,
  paths: RegisteredPaths,
): Insertion {
  return insertHooks(text, STOP_EVENT, ownEntries(registration, paths));
}

/** The token that a command starts with, in words that the shell ignores. */
function tokenOf(command: string): string {
  const token = /^: (turnguard:[a-z-]+); /.exec(command)?.[1];
  if (token === undefined) throw new Error(`a command without a token: ${command}`);
  return token;
}

function filledIn(template: EntryTemplate, paths: RegisteredPaths): HookEntry {
  const entry: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(template)) {
    entry[name] = name === "command" ? fillIn(template.command, paths) : value;
  }
  return entry;
}

/** One pass, so that a path which itself holds a placeholder stays what it is. */
function fillIn(command: string, { executable, root }: RegisteredPaths): string {
  return command.replaceAll(
    /\{(?:TG|ROOT)\}/g,
    (placeholder) => shellQuote(placeholder === "{TG}" ? executable : root),
  );
}
