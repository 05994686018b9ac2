/**
 * What stands at a path.
 *
 * @module
 */

/** What reading a file under `/proc` says when its process has ended in the meantime. */
const NO_SUCH_PROCESS = "(os error 3)";

/** Contents of a file; empty when there is none. */
export function textOf(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    if (error instanceof Error && error.message.includes(NO_SUCH_PROCESS)) return "";
    throw error;
  }
}

/** Whether anything stands at a path, a link that leads nowhere included. */
export function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Whether a program or file is there. */
export function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
