/** What `install` and `uninstall` are about to do, worked out before the first byte is written. */

import type { Position } from "../../harness/registration/json_text.ts";
import type { InstallRecord } from "./record.ts";

/** A file that will have other bytes, or that comes or goes. */
export interface FileChange {
  /** The file as the diff names it, below `a/` and `b/`. */
  readonly label: string;
  /** Where it really is, links resolved. */
  readonly path: string;
  /** Its bytes when it was read; `undefined` when there was none. */
  readonly before: Uint8Array | undefined;
  /** Its text afterwards; `undefined` when it goes. */
  readonly after: string | undefined;
  /** Permission bits that it keeps, or gets when it is new. */
  readonly mode: number | undefined;
  /** Whether it is a folder that comes, or goes once it is empty; it has no text then. */
  readonly isFolder?: true;
  /** Folders that go with it when they are empty then, the innermost first. */
  readonly folders?: readonly string[];
}

/** What becomes of the record of a file: another one, none any more, or the one that is there. */
export type RecordChange =
  | { readonly kind: "keep" }
  | { readonly kind: "write"; readonly record: InstallRecord }
  | { readonly kind: "remove" };

/** One file of a plan. */
export interface PlannedFile {
  /** What happens to ours in it; `guarded`: the shell suite's own guard stays in its place. */
  readonly how: "added" | "updated" | "removed" | "none" | "guarded";
  /** The path that people know it by. */
  readonly path: string;
  /** What was put in or taken out, such as `2 hooks`. */
  readonly what: string;
  /** Whether all of it is ours. */
  readonly isWhole?: true;
  readonly change?: FileChange;
  readonly record: RecordChange;
  /** Where the shell suite's guards stand. */
  readonly references: readonly Position[];
}

/** Why nothing is done for a harness, or what is. */
export type Plan =
  | {
    readonly kind: "refused";
    readonly harness: string;
    readonly wrong: string;
    readonly untouched: string;
    readonly todo: string;
  }
  | {
    readonly kind: "planned";
    readonly harness: string;
    readonly files: readonly PlannedFile[];
    /** What the harness asks for before it runs anything of it. */
    readonly trust?: string;
    /** What a change of the entries costs. */
    readonly afterUpdate: readonly string[];
    /** What keeps it from running, or from running once. */
    readonly attention: readonly string[];
  };

/** A refusal. */
export function refusal(harness: string, wrong: string, todo: string): Plan {
  return { kind: "refused", harness, wrong, untouched: "nothing was written", todo };
}
