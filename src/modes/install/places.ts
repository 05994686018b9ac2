/** Where a harness keeps the hook file that is meant: the home's, or the user's own. */

import { isAbsolute, join } from "@std/path";
import type { LinkRule } from "../../harness/registration/target_file.ts";
import type { Registration, UserPlace } from "../../harness/registration/registration.ts";
import type { Environment } from "../../platform/environment.ts";

/** A file by its folder and its name there. */
export interface Place extends LinkRule {
  readonly base: string;
  readonly name: string;
  /** How a diff names it. */
  readonly label: string;
}

/** A place, or why there is none. */
export type FoundPlace =
  | { readonly kind: "found"; readonly place: Place }
  | { readonly kind: "none"; readonly wrong: string; readonly todo: string };

/** A file of the home. */
export function homePlace(root: string, name: string): Place {
  return { base: root, name, label: name, links: "inside" };
}

/** The hook file of the user. */
export function userPlace(
  { harness, user }: Pick<Registration, "harness" | "user">,
  environment: Environment,
): FoundPlace {
  if (user === undefined || user.kind === "none") {
    const why = user?.because ?? `There is no file for every project of a user that would do.`;
    return {
      kind: "none",
      wrong: `${harness} cannot be registered for a user: ${why.replace(/\.$/, "")}`,
      todo: "leave --user out to register it in a home",
    };
  }
  const folder = userFolder(user, environment);
  if (folder === undefined) {
    return {
      kind: "none",
      wrong: "HOME does not name a folder",
      todo: "set HOME to the folder of the user",
    };
  }
  const label = join(folder, user.name).replace(/^\/+/, "");
  return { kind: "found", place: { base: folder, name: user.name, label, links: "anywhere" } };
}

function userFolder(
  { variable, folder }: Extract<UserPlace, { kind: "file" }>,
  environment: Environment,
): string | undefined {
  const named = variable === undefined ? undefined : environment.get(variable);
  if (named !== undefined && isAbsolute(named)) return named;
  const home = environment.get("HOME");
  return home !== undefined && isAbsolute(home) ? join(home, folder) : undefined;
}
