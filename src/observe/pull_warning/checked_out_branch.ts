/** The branch that a checkout has out, and which one is its default, read without starting Git. */

import { isAbsolute, resolve } from "@std/path";
import type { CheckoutFact } from "../../decide/pull_warning/tangle.ts";
import { readCapture, readText } from "../../platform/file_text.ts";
import { targetKind } from "../../platform/path_kind.ts";
import { gitLayout } from "../git_layout.ts";

/** Largest list of packed references that is searched. */
const PACKED_LIMIT_BYTES = 64 * 1024 * 1024;

/** Observes the checkout at `root`. */
export function observeCheckout(root: string): CheckoutFact {
  const directory = gitDirectory(root);
  if (directory === undefined || gitLayout(root) === "none") return { kind: "none" };
  const common = commonDirectory(directory);
  const exists = (branch: string) => branchExists(common, branch);
  return {
    kind: "checkout",
    branch: symbolic(`${directory}/HEAD`, "refs/heads/"),
    remoteDefault: symbolic(`${common}/refs/remotes/origin/HEAD`, "refs/remotes/origin/"),
    localDefaults: ["main", "master"].filter(exists),
  };
}

/** A bare repository has no work tree, so only `.git` counts. */
function gitDirectory(root: string): string | undefined {
  const entry = `${root}/.git`;
  const kind = targetKind(entry);
  if (kind === "directory") return entry;
  const content = kind === "file" ? readCapture(entry) : undefined;
  if (content?.kind !== "text" || !content.text.startsWith("gitdir: ")) return undefined;
  return below(root, content.text.slice("gitdir: ".length));
}

function commonDirectory(directory: string): string {
  const content = readCapture(`${directory}/commondir`);
  return content.kind === "text" && content.text !== ""
    ? below(directory, content.text)
    : directory;
}

function below(folder: string, path: string): string {
  return isAbsolute(path) ? path : resolve(folder, path);
}

/** What the reference at `path` points to, without its prefix; `undefined` when it names a commit. */
function symbolic(path: string, prefix: string): string | undefined {
  const content = readCapture(path);
  const start = `ref: ${prefix}`;
  return content.kind === "text" && content.text.startsWith(start)
    ? content.text.slice(start.length)
    : undefined;
}

function branchExists(common: string, branch: string): boolean {
  if (targetKind(`${common}/refs/heads/${branch}`) === "file") return true;
  const packed = readText(`${common}/packed-refs`, PACKED_LIMIT_BYTES);
  return packed.kind === "text" &&
    packed.text.split("\n").some((line) => line.endsWith(` refs/heads/${branch}`));
}
