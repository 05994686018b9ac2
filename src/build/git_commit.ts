/**
 * Reads the commit that is checked out from git's files, without starting git.
 *
 * @module
 */

import { dirname, join, resolve } from "@std/path";

const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/**
 * The full hash of the commit checked out in `root`, or `undefined` when `root`
 * is no checkout, has no commit yet, or keeps its refs in a form unknown here.
 *
 * Looks at `root` itself only: a copy of the sources inside another project's
 * checkout does not take that project's commit. Needs read permission.
 */
export function readCommit(root: string): string | undefined {
  const gitDir = findGitDir(join(root, ".git"));
  const head = gitDir === undefined ? undefined : readLine(join(gitDir, "HEAD"));
  if (gitDir === undefined || head === undefined) return undefined;
  if (COMMIT.test(head)) return head;

  const ref = /^ref: (refs\/\S+)$/.exec(head)?.[1];
  if (ref === undefined || ref.includes("..")) return undefined;
  const common = resolve(gitDir, readLine(join(gitDir, "commondir")) ?? ".");
  const commit = readLine(join(gitDir, ref)) ?? readLine(join(common, ref)) ??
    readPackedRef(common, ref);
  return commit !== undefined && COMMIT.test(commit) ? commit : undefined;
}

/** In a linked worktree or a submodule, `.git` is a file that names the folder. */
function findGitDir(dotGit: string): string | undefined {
  try {
    if (Deno.statSync(dotGit).isDirectory) return dotGit;
  } catch {
    return undefined;
  }
  const path = /^gitdir: (.+)$/.exec(readLine(dotGit) ?? "")?.[1];
  return path === undefined ? undefined : resolve(dirname(dotGit), path);
}

function readPackedRef(common: string, ref: string): string | undefined {
  for (const line of readText(join(common, "packed-refs"))?.split("\n") ?? []) {
    const [commit, name] = line.split(" ");
    if (name === ref) return commit;
  }
  return undefined;
}

function readLine(path: string): string | undefined {
  return readText(path)?.split("\n", 1)[0]?.trimEnd();
}

function readText(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return undefined;
  }
}
