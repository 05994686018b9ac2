/**
 * The shells that a harness may run a command with.
 *
 * @module
 */

import { isFile } from "./files.ts";

/** The shells of the POSIX family that are everywhere. */
export const PLAIN_SHELLS: readonly string[] = ["sh", "dash", "bash"];

/** Those, and the ones that people choose as their own. */
export const ALL_SHELLS: readonly string[] = [...PLAIN_SHELLS, "zsh", "fish"];

/** A test under each shell; one that is not installed is said to be skipped. */
export function underEachShell(
  shells: readonly string[],
  nameOf: (shell: string) => string,
  test: (path: string) => Promise<void>,
): void {
  for (const shell of shells) {
    const name = nameOf(shell);
    const path = [`/bin/${shell}`, `/usr/bin/${shell}`].find(isFile);
    if (path === undefined) console.log(`${name}: skipped, ${shell} is not installed`);
    Deno.test({ name, ignore: path === undefined, fn: () => test(path ?? "") });
  }
}
