/**
 * Reads the project's version from `deno.json`, the one place that states it.
 *
 * @module
 */

import { join } from "@std/path";
import { BuildFailure } from "./failure.ts";

/**
 * The version in the `deno.json` of a project folder.
 *
 * Throws {@link BuildFailure} when there is none; needs read permission.
 */
export function projectVersion(root: string): string {
  const path = join(root, "deno.json");
  const settings: unknown = JSON.parse(Deno.readTextFileSync(path));
  if (
    typeof settings === "object" && settings !== null && "version" in settings &&
    typeof settings.version === "string" && /^\d+\.\d+\.\d+/.test(settings.version)
  ) {
    return settings.version;
  }
  throw new BuildFailure({
    wrong: `${path} states no version.`,
    untouched: "Nothing was built.",
    advice: 'Give it a line such as "version": "0.1.0".',
  });
}
