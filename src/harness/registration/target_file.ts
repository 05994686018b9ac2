/** A registration file on disk: where its bytes really are, and what they are now. */

import { basename, dirname, join } from "@std/path";
import { errorMessage } from "../../platform/file_text.ts";
import { ownKind, targetKind } from "../../platform/path_kind.ts";

/** What lies at the place of a registration file. */
export type TargetFile =
  | {
    readonly kind: "present";
    /** The path with all links resolved: a rename there replaces the file, not a link to it. */
    readonly path: string;
    readonly bytes: Uint8Array;
    /** Permission bits, where the file system has them. */
    readonly mode: number | undefined;
  }
  | { readonly kind: "absent"; readonly path: string }
  | {
    readonly kind: "refused";
    /** What is wrong, as the end of a sentence that begins with the path. */
    readonly because: string;
    readonly path: string;
  };

/** Bytes that a registration file may have; people write these files. */
const LIMIT_BYTES = 1024 * 1024;

const MAY_WRITE = 0o222;

/** What {@link findTargetFile} makes of links. */
export interface LinkRule {
  /**
   * `inside`: followed as long as they stay below the folder, since what is registered for one home must
   * not end up in a file that others share. `anywhere`: followed, as people keep their own settings in
   * a folder of dotfiles.
   */
  readonly links: "inside" | "anywhere";
}

/**
 * Finds the registration file `name`, a path below `root`. A link is never what is replaced. Refuses
 * what is not a regular file that may be written. Never throws.
 */
export function findTargetFile(
  root: string,
  name: string,
  { links }: LinkRule = { links: "inside" },
): TargetFile {
  const path = join(root, name);
  try {
    return lookAt(root, path, links);
  } catch (error) {
    return { kind: "refused", path, because: `cannot be used (${errorMessage(error)})` };
  }
}

function lookAt(root: string, path: string, links: LinkRule["links"]): TargetFile {
  const outside = links === "inside" ? Deno.realPathSync(root) : undefined;
  const missing: string[] = [];
  let folder = dirname(path);
  while (ownKind(folder) === "absent" && folder !== dirname(folder)) {
    missing.unshift(basename(folder));
    folder = dirname(folder);
  }
  if (targetKind(folder) !== "directory") {
    return { kind: "refused", path: folder, because: "is not a folder" };
  }
  const realFolder = Deno.realPathSync(folder);
  if (outside !== undefined && !isInside(realFolder, outside)) {
    return { kind: "refused", path: folder, because: "is a link that leads out of the root" };
  }
  if (missing.length > 0 || ownKind(path) === "absent") {
    return { kind: "absent", path: join(realFolder, ...missing, basename(path)) };
  }
  const kind = targetKind(path);
  if (kind === "absent") {
    return { kind: "refused", path, because: "is a link to a file that does not exist" };
  }
  if (kind !== "file") {
    const because = kind === "directory" ? "is a folder, not a file" : "is not a regular file";
    return { kind: "refused", path, because };
  }
  const real = Deno.realPathSync(path);
  if (outside !== undefined && !isInside(real, outside)) {
    return { kind: "refused", path, because: "is a link that leads out of the root" };
  }
  const { size, mode } = Deno.statSync(real);
  if (size > LIMIT_BYTES) {
    return { kind: "refused", path, because: `is larger than ${LIMIT_BYTES} bytes` };
  }
  const bits = mode === null ? undefined : mode & 0o7777;
  // A rename would replace it all the same, but whoever took the bits away meant it to stay.
  if (bits !== undefined && (bits & MAY_WRITE) === 0) {
    return { kind: "refused", path, because: "is read-only" };
  }
  return { kind: "present", path: real, bytes: Deno.readFileSync(real), mode: bits };
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}
