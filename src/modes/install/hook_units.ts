/** Which hook files a harness has, and which entries of ours belong into each. */

import type { OwnGroup } from "../../harness/registration/own_hooks.ts";
import { ownGroups, type Registration } from "../../harness/registration/registration.ts";
import { homePlace, type Place, userPlace } from "./places.ts";
import type { InstallRequest, Request } from "./request.ts";

/** A hook file, and what of ours may stand in it. */
export interface HookUnit {
  readonly place: Place;
  /** Entries that were asked for. */
  readonly groups: readonly OwnGroup[];
  /** Further ones that are brought up to date where they are. */
  readonly kept: readonly OwnGroup[];
}

/** Or why there is none. */
export type HookUnits =
  | { readonly kind: "found"; readonly units: readonly HookUnit[] }
  | { readonly kind: "none"; readonly wrong: string; readonly todo: string };

/** The hook files that a request is about. */
export function hookUnits(registration: Registration, request: InstallRequest): HookUnits {
  const found = placesOf(registration, request);
  if (found.kind === "none") return found;
  const groups = ownGroups(registration, request);
  return { kind: "found", units: found.places.map((place) => ({ place, groups, kept: [] })) };
}

/** The places of those files alone. */
export function placesOf(
  registration: Registration,
  request: Request,
):
  | { readonly kind: "found"; readonly places: readonly Place[] }
  | Exclude<HookUnits, { kind: "found" }> {
  if (!request.isForUser) {
    return { kind: "found", places: [homePlace(request.root, registration.file)] };
  }
  const found = userPlace(registration, request.environment);
  return found.kind === "none" ? found : { kind: "found", places: [found.place] };
}

/** Every token by which an entry of a harness is found. */
export function tokensOf(registration: Registration): readonly string[] {
  const groups = ownGroups(registration, { executable: "/", root: "/" });
  return groups.flatMap(({ entries }) => entries.map(({ token }) => token));
}
