/** What registering with a harness means: which file, which entries, and what the harness asks for. */

import { shellQuote } from "../shell_quote.ts";
import type { ExtraHooks } from "./extra_hooks.ts";
import type { EntryTemplate, HookTemplate } from "./hook_template.ts";
import type { HookShape } from "./hook_survey.ts";
import type { JsonValue } from "./layout.ts";
import type { HookEntry, OwnGroup } from "./own_hooks.ts";

/** A harness that `install` knows by its hook file. */
export interface Registration {
  /** The word that names it on a command line. */
  readonly harness: string;
  /** Its hook file below a home. */
  readonly file: string;
  /** Where its hook file for every project of a user is, or why there is none; without it none. */
  readonly user?: UserPlace;
  /** Where entries stand below their event; `groups` when it is not said. */
  readonly shape?: HookShape;
  /** What the hook file is before the first hook is in it; an empty object when it is not said. */
  readonly initial?: string;
  /** Whether the file belongs to one tool alone, so that one without an entry of ours is foreign. */
  readonly isOwnFile?: boolean;
  /** The hook file that is merged into that one, with placeholders in it. */
  readonly template: HookTemplate;
  /** Scripts of the shell suite that an entry takes the place of, by its token. */
  readonly replaces?: Readonly<Record<string, readonly string[]>>;
  /** Entries besides the guard's. */
  readonly extras?: readonly ExtraHooks[];
  /**
   * The hook file below a home that its operator keeps out of the repository, if there is one. The
   * extras go there in a home of the shell suite, whose own file has to hold what the suite expects.
   */
  readonly localFile?: string;
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

/** Where the hook file of a user is. */
export type UserPlace =
  | {
    readonly kind: "file";
    /** The variable that names the folder, if the harness has one. */
    readonly variable?: string;
    /** The folder below the user's own, without that variable. */
    readonly folder: string;
    /** The file's name in the folder. */
    readonly name: string;
  }
  | {
    readonly kind: "none";
    /** Why, as a sentence. */
    readonly because: string;
  };

/** The text of a hook file that registers nothing yet. */
export const EMPTY_HOOK_FILE = "{}\n";

/** What the placeholders stand for; both are absolute paths. */
export interface RegisteredPaths {
  readonly executable: string;
  readonly root: string;
}

/** The groups of a template for one executable and one home. */
export function ownGroups(
  { template, replaces = {} }: Pick<Registration, "template" | "replaces">,
  paths: RegisteredPaths,
): OwnGroup[] {
  return Object.entries(template.hooks).flatMap(([event, groups]) =>
    groups.map((group) => {
      const entries = "hooks" in group ? group.hooks : [group];
      const matcher = "hooks" in group ? group.matcher : undefined;
      return {
        event,
        ...(matcher === undefined ? {} : { matcher }),
        entries: entries.map((entry) => {
          const token = tokenOf(entry.command);
          const scripts = replaces[token];
          return {
            token,
            entry: filledIn(entry, paths),
            ...(scripts === undefined ? {} : { replaces: scripts }),
          };
        }),
      };
    })
  );
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
