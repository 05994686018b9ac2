/**
 * A temporary folder for one test, gone at the end of its scope.
 *
 * @module
 */

import { dirname, join } from "@std/path";

/** A temporary folder; bind it with `using`. */
export interface TempFolder extends Disposable {
  /** Its absolute path. */
  readonly path: string;
  /** Writes a file below it, folders included, and returns the file's path. */
  write(name: string, content: string | Uint8Array, mode?: number): string;
}

/** Makes a temporary folder. */
export function tempFolder(): TempFolder {
  const path = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "turnguard-test-" }));
  return {
    path,
    write(name, content, mode = 0o644): string {
      const file = join(path, name);
      Deno.mkdirSync(dirname(file), { recursive: true });
      const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
      Deno.writeFileSync(file, bytes, { mode });
      return file;
    },
    [Symbol.dispose](): void {
      Deno.removeSync(path, { recursive: true });
    },
  };
}

/** The names in a folder, sorted. */
export function namesIn(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map((entry) => entry.name).sort();
}
