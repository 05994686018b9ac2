/** What kind of thing a path names, with the two questions that rules ask about links. */

/** Kind of a path. `link` appears only when links are not followed. */
export type PathKind = "file" | "directory" | "link" | "other" | "absent" | "unknown";

/** Kind of the target of `path`, links followed. A dangling link is `absent`. */
export function targetKind(path: string): PathKind {
  return kindBy(Deno.statSync, path);
}

/** Kind of `path` itself, links not followed. */
export function ownKind(path: string): PathKind {
  return kindBy(Deno.lstatSync, path);
}

function kindBy(stat: (path: string) => Deno.FileInfo, path: string): PathKind {
  try {
    const info = stat(path);
    if (info.isSymlink) return "link";
    if (info.isFile) return "file";
    return info.isDirectory ? "directory" : "other";
  } catch (error) {
    if (error instanceof Deno.errors.PermissionDenied) return "unknown";
    return "absent";
  }
}
