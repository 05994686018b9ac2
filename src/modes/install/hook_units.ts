/** Which hook files a harness has, and which entries of ours belong into each. */

import { join } from "@std/path";
import type { OwnGroup } from "../../harness/registration/own_hooks.ts";
import { ownGroups, type Registration } from "../../harness/registration/registration.ts";
import { targetKind } from "../../platform/path_kind.ts";
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

/** The hook files, or why there are none. */
export type HookUnits =
  | { readonly kind: "found"; readonly units: readonly HookUnit[] }
  | NoPlace;

interface NoPlace {
  readonly kind: "none";
  readonly wrong: string;
  readonly todo: string;
}

/** The hook files that a request is about. */
export function hookUnits(registration: Registration, request: InstallRequest): HookUnits {
  const found = placesOf(registration, request);
  if (found.kind === "none") return found;
  const all = ownGroups(registration, request);
  const guard = request.guards ? all : [];
  const known = (registration.extras ?? []).filter(({ mode }) => request.modes.includes(mode));
  const groupsOf = (wanted: boolean): OwnGroup[] =>
    known.filter(({ when }) => request.extras.includes(when) === wanted)
      .flatMap(({ template }) => ownGroups({ template }, request));
  const extras = groupsOf(true);
  const others = [...request.guards ? [] : all, ...groupsOf(false)];
  const [main, local] = found.places;
  if (main === undefined) return { kind: "found", units: [] };
  const takesLocal = local !== undefined && isSuiteHome(request.root);
  const units = [{
    place: main,
    groups: takesLocal ? guard : [...guard, ...extras],
    kept: takesLocal ? [...extras, ...others] : others,
  }];
  if (local !== undefined) {
    units.push({
      place: local,
      groups: takesLocal ? extras : [],
      kept: takesLocal ? others : [...extras, ...others],
    });
  }
  return { kind: "found", units };
}

/** The places of those files alone, the one that the guard belongs into first. */
export function placesOf(
  { file, localFile, ...registration }: Registration,
  request: Request,
): { readonly kind: "found"; readonly places: readonly Place[] } | NoPlace {
  if (!request.isForUser) {
    const files = localFile === undefined ? [file] : [file, localFile];
    return { kind: "found", places: files.map((name) => homePlace(request.root, name)) };
  }
  const found = userPlace(registration, request.environment);
  return found.kind === "none" ? found : { kind: "found", places: [found.place] };
}

/** Every token by which an entry of a harness is found. */
export function tokensOf({ template, extras = [] }: Registration): readonly string[] {
  const paths = { executable: "/", root: "/" };
  const groups = [template, ...extras.map((each) => each.template)]
    .flatMap((each) => ownGroups({ template: each }, paths));
  return [...new Set(groups.flatMap(({ entries }) => entries.map(({ token }) => token)))];
}

/** Whether the shell suite's scripts are there, and with them its tests of what the hook file holds. */
function isSuiteHome(root: string): boolean {
  return targetKind(join(root, "bin", "fm-turnend-guard.sh")) === "file";
}
