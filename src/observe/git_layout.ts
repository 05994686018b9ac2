/** What a folder is to Git, read from files without starting Git. */

import { isAbsolute, resolve } from "@std/path";
import type { GitLayout } from "../decide/facts.ts";
import { readCapture } from "../platform/file_text.ts";
import { ownKind, targetKind } from "../platform/path_kind.ts";

/**
 * Tells whether the Git directory of `root` and the common one are the same.
 *
 * A `.git` directory counts when it really is a Git directory; a `.git` file is followed once, and a
 * `commondir` file in the directory it names marks a linked worktree. A bare repository is its own
 * Git directory. Everything else, a `.git` file that leads nowhere included, is `none`.
 */
export function gitLayout(root: string): GitLayout {
  const entry = `${root}/.git`;
  switch (targetKind(entry)) {
    case "directory":
      if (isGitDirectory(entry)) return layoutOf(entry);
      break;
    case "file": {
      const directory = namedDirectory(root, entry);
      return directory !== undefined && isGitDirectory(directory) ? layoutOf(directory) : "none";
    }
    default:
      break;
  }
  return isGitDirectory(root) ? layoutOf(root) : "none";
}

function layoutOf(directory: string): GitLayout {
  return targetKind(`${directory}/commondir`) === "file" ? "linked-worktree" : "primary";
}

/** The directory that a `.git` file names, relative to the folder the file stands in. */
function namedDirectory(root: string, file: string): string | undefined {
  const content = readCapture(file);
  if (content.kind !== "text" || !content.text.startsWith("gitdir: ")) return undefined;
  const path = content.text.slice("gitdir: ".length);
  return isAbsolute(path) ? path : resolve(root, path);
}

/** Git's own test: a valid `HEAD`, and `refs` and `objects` here or in the common directory. */
function isGitDirectory(directory: string): boolean {
  if (!hasValidHead(directory)) return false;
  const common = commonDirectory(directory);
  return targetKind(`${common}/objects`) === "directory" &&
    targetKind(`${common}/refs`) === "directory";
}

/** A `HEAD` names a ref below `refs/`, as text or as a link, or is an object id by itself. */
function hasValidHead(directory: string): boolean {
  const path = `${directory}/HEAD`;
  if (ownKind(path) === "link") return linkTarget(path).startsWith("refs/");
  const head = readCapture(path);
  if (head.kind !== "text") return false;
  return /^ref:\s*refs\//.test(head.text) || /^[0-9a-f]{40}/.test(head.text);
}

function linkTarget(path: string): string {
  try {
    return Deno.readLinkSync(path);
  } catch {
    return "";
  }
}

function commonDirectory(directory: string): string {
  const content = readCapture(`${directory}/commondir`);
  if (content.kind !== "text" || content.text === "") return directory;
  return isAbsolute(content.text) ? content.text : resolve(directory, content.text);
}
