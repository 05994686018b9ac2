/** What has to be remembered of an edit, so that it can be undone to the byte. */

/** A container that was there, but empty, before something of ours came into it. */
export interface FilledContainer {
  /** The names that lead to it, from the root. */
  readonly path: readonly string[];
  /** Its text, brackets and comments included. */
  readonly text: string;
}

/** An entry of the shell suite that ours stands in place of. */
export interface ReplacedEntry {
  readonly event: string;
  /** The token of ours. */
  readonly token: string;
  /** The text of the old one. */
  readonly text: string;
}

/** Both. */
export interface EditMemory {
  readonly filled: readonly FilledContainer[];
  readonly replaced: readonly ReplacedEntry[];
}

/** A file of which nothing has to be remembered. */
export const NO_MEMORY: EditMemory = { filled: [], replaced: [] };
