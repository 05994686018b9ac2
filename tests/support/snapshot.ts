/**
 * A folder's whole contents as one value, to show that nothing in it was changed.
 *
 * @module
 */

import { createHash } from "node:crypto";

/** Entries by their path inside the folder. */
export type Snapshot = Readonly<Record<string, string>>;

/** Names of the decision journal, the one thing that a guard may write. */
const JOURNAL = /^\.turnguard-journal\.jsonl(\.1)?$/;

/**
 * Kind, mode, size, modification time and contents of every entry below `folder`, the journal left
 * out. The time of a folder is not part of it, since the journal changes that.
 */
export function snapshot(folder: string): Snapshot {
  return Object.fromEntries(entries(folder, "").sort(([a], [b]) => a < b ? -1 : 1));
}

function entries(folder: string, prefix: string): [string, string][] {
  return [...Deno.readDirSync(folder)].flatMap((entry): [string, string][] => {
    if (JOURNAL.test(entry.name)) return [];
    const path = `${folder}/${entry.name}`;
    const name = `${prefix}${entry.name}`;
    const { mode, size, mtime } = Deno.lstatSync(path);
    if (entry.isDirectory) {
      return [[name, `directory ${mode?.toString(8)}`], ...entries(path, `${name}/`)];
    }
    const facts = `${mode?.toString(8)} ${size} ${mtime?.getTime()}`;
    if (entry.isSymlink) return [[name, `link ${facts} ${Deno.readLinkSync(path)}`]];
    if (!entry.isFile) return [[name, `special ${facts}`]];
    return [[name, `file ${facts} ${digest(Deno.readFileSync(path))}`]];
  });
}

function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
