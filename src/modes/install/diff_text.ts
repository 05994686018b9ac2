/** Changes as a unified diff that `patch -p1` applies. */

import { createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff";
import { printable } from "../../platform/printable.ts";
import type { FileChange } from "./plan.ts";

/** The diff of one file; a folder has none. */
export function diffText({ label, before, after, isFolder }: FileChange): string {
  if (isFolder) return "";
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const patch = createTwoFilesPatch(
    before === undefined ? "/dev/null" : `a/${label}`,
    after === undefined ? "/dev/null" : `b/${label}`,
    before === undefined ? "" : decoder.decode(before),
    after ?? "",
    undefined,
    undefined,
    { context: 3, headerOptions: FILE_HEADERS_ONLY },
  );
  // The end of a name with blanks in it has to be marked, or patch takes its first word for all.
  return patch.replace(
    /^--- .*\n\+\+\+ .*$/m,
    (names) => names.replaceAll(/^.{4}.* .*$/gm, "$&\t"),
  );
}

/** A diff for a terminal, which a file's own text must not steer; tabs do no harm. */
export function printableDiff(text: string): string {
  return text.split("\n")
    .map((line) => line.split("\t").map(printable).join("\t"))
    .join("\n");
}
