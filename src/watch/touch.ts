/** Files of which only the time matters. */

/** Creates the file if it is missing and sets its times to now; its content is never changed. */
export function touch(path: string): void {
  const now = new Date();
  try {
    Deno.utimeSync(path, now, now);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    Deno.openSync(path, { create: true, append: true }).close();
  }
}
