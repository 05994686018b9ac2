/**
 * Checks that imports only run downwards, in no circle, and that pure code is
 * pure.
 *
 *     deno task check:imports
 *
 * Prints `file:line: what, why` for each breach and exits 1 when there is one.
 *
 * @module
 */

import { dirname, fromFileUrl, join } from "@std/path";
import type { Finding } from "./finding.ts";
import { findForbiddenNames } from "./forbidden_names.ts";
import { findCycles } from "./import_cycles.ts";
import { readImportGraph } from "./import_graph.ts";
import { judgeImport, judgePlace } from "./import_rules.ts";

/** What {@link checkImports} saw. */
export interface ImportReport {
  /** The number of files read. */
  readonly files: number;
  /** The number of imports judged. */
  readonly imports: number;
  /** The breaches, by file and line. */
  readonly findings: readonly Finding[];
}

/**
 * Checks the project in `root`, an absolute path.
 *
 * Needs read, write (temporary folder) and run permission; throws an `Error`
 * when a file cannot be read or parsed.
 */
export async function checkImports(root: string): Promise<ImportReport> {
  const { files, imports } = await readImportGraph(root);
  const findings = [
    ...files.map(judgePlace),
    ...imports.map(judgeImport),
    ...findCycles(imports),
    ...files.flatMap((file) => findForbiddenNames(file, Deno.readTextFileSync(join(root, file)))),
  ].filter((finding) => finding !== undefined);
  findings.sort((a, b) => a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1);
  return { files: files.length, imports: imports.length, findings };
}

if (import.meta.main) {
  const root = dirname(dirname(dirname(fromFileUrl(import.meta.url))));
  try {
    const { files, imports, findings } = await checkImports(root);
    for (const { file, line, what, why } of findings) {
      console.log(`${file}:${line}: ${what}, ${why}`);
    }
    console.log(`${files} files, ${imports} imports, ${findings.length} breaches of the rules`);
    if (findings.length > 0) Deno.exitCode = 1;
  } catch (error) {
    // A file that cannot be read as code is a finding of deno check, not a crash.
    console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
    Deno.exitCode = 1;
  }
}
