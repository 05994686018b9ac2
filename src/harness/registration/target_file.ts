/** The registration file of a home on disk: where its bytes really are, and what they are now. */

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

/**
 * Finds the registration file `name`, a path of one folder and one file, below `root`.
 *
 * Links are followed as long as they stay inside the root: a registration must not end up in a file
 * that other homes or the user share. Never throws.
 */
export function findTargetFile(root: string, name: string): TargetFile {
  const path = join(root, name);
  try {
    return lookAt(root, path);
  } catch (error) {
    return { kind: "refused", path, because: `cannot be used (${errorMessage(error)})` };
  }
}

function lookAt(root: string, path: string): TargetFile {
  const folder = dirname(path);
  const realRoot = Deno.realPathSync(root);
  if (ownKind(folder) === "absent") return { kind: "absent", path };
  if (targetKind(folder) !== "directory") {
    return { kind: "refused", path: folder, because: "is not a folder" };
  }
  const realFolder = Deno.realPathSync(folder);
  if (!isInside(realFolder, realRoot)) {
    return { kind: "refused", path: folder, because: "is a link that leads out of the root" };
  }
  if (ownKind(path) === "absent") return { kind: "absent", path: join(realFolder, basename(path)) };
  const kind = targetKind(path);
  if (kind === "absent") {
    return { kind: "refused", path, because: "is a link to a file that does not exist" };
  }
  if (kind !== "file") {
    const because = kind === "directory" ? "is a folder, not a file" : "is not a regular file";
    return { kind: "refused", path, because };
  }
  const real = Deno.realPathSync(path);
  if (!isInside(real, realRoot)) {
    return { kind: "refused", path, because: "is a link that leads out of the root" };
  }
  const { size, mode } = Deno.statSync(real);
  if (size > LIMIT_BYTES) {
    return { kind: "refused", path, because: `is larger than ${LIMIT_BYTES} bytes` };
  }
  const bits = mode === null ? undefined : mode & 0o7777;
  return { kind: "present", path: real, bytes: Deno.readFileSync(real), mode: bits };
}

function isInside(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}
