/** The scripts that forwarders stand for, kept until they are put back. */

import { readText } from "../../platform/file_text.ts";
import { ownKind } from "../../platform/path_kind.ts";
import { removeQuietly, replaceFile } from "../../state/replace_file.ts";
import { isForwarder } from "./forwarder.ts";

/** Folder of the originals, below the state directory. */
export const ORIGINALS_NAME = ".turnguard-originals";

/** What stands where a script of the suite belongs. */
export type ScriptPlace =
  | { readonly kind: "absent" }
  | {
    readonly kind: "original";
    readonly bytes: Uint8Array;
    readonly mode: number;
    readonly changedAt: Date;
  }
  | { readonly kind: "forwarder"; readonly text: string; readonly kept: boolean }
  | { readonly kind: "refused"; readonly because: string };

/** Where the scripts are and where the originals are kept. */
export interface ScriptFolders {
  readonly bin: string;
  readonly originals: string;
}

/** Looks at a script's place. */
export function lookAt({ bin, originals }: ScriptFolders, name: string): ScriptPlace {
  const path = `${bin}/${name}`;
  const kind = ownKind(path);
  if (kind === "absent") return { kind: "absent" };
  if (kind === "link") return { kind: "refused", because: "is a link; its target is not ours" };
  if (kind !== "file") return { kind: "refused", because: "is no plain file" };
  const content = readText(path);
  if (content.kind !== "text") return { kind: "refused", because: "cannot be read" };
  if (isForwarder(content.text)) {
    const kept = ownKind(`${originals}/${name}`) === "file";
    return { kind: "forwarder", text: content.text, kept };
  }
  try {
    return { kind: "original", bytes: Deno.readFileSync(path), ...factsOf(path) };
  } catch {
    return { kind: "refused", because: "cannot be read" };
  }
}

/**
 * Keeps the original, then puts the forwarder in its place.
 *
 * Stopped in between, the script is still the original, and a second run keeps it again. Throws what
 * writing throws.
 */
export function putForwarder(
  folders: ScriptFolders,
  name: string,
  original: Extract<ScriptPlace, { kind: "original" }>,
  text: string,
): void {
  Deno.mkdirSync(folders.originals, { recursive: true, mode: 0o700 });
  const kept = `${folders.originals}/${name}`;
  replaceFile(kept, original.bytes);
  giveFacts(kept, original);
  replaceForwarder(folders, name, text);
}

/** Puts another forwarder where one is. */
export function replaceForwarder({ bin }: ScriptFolders, name: string, text: string): void {
  const path = `${bin}/${name}`;
  replaceFile(path, text, { mode: 0o755 });
  Deno.chmodSync(path, 0o755);
}

/** Puts the original back, with its mode, and forgets that it was kept. */
export function putOriginal({ bin, originals }: ScriptFolders, name: string): void {
  const kept = `${originals}/${name}`;
  const path = `${bin}/${name}`;
  const facts = factsOf(kept);
  replaceFile(path, Deno.readFileSync(kept), { mode: facts.mode });
  giveFacts(path, facts);
  Deno.removeSync(kept);
}

/** What of a file is not in its bytes: its mode, and the time that tells whether it was edited. */
interface FileFacts {
  readonly mode: number;
  readonly changedAt: Date;
}

function factsOf(path: string): FileFacts {
  const { mode, mtime } = Deno.statSync(path);
  return { mode: (mode ?? 0o755) & 0o7777, changedAt: mtime ?? new Date(0) };
}

function giveFacts(path: string, { mode, changedAt }: FileFacts): void {
  Deno.chmodSync(path, mode);
  Deno.utimeSync(path, changedAt, changedAt);
}

/** Removes the folder of originals when it is empty. */
export function removeEmptyFolder({ originals }: ScriptFolders): void {
  removeQuietly(originals);
}
