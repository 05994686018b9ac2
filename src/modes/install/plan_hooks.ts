/** Entries of ours worked into the hook files of one harness. */

import { join } from "@std/path";
import { insertHooks } from "../../harness/registration/insert_hooks.ts";
import { decodeJson, parseJson, type Refusal } from "../../harness/registration/json_text.ts";
import { hasToken, type OwnGroup, runsReference } from "../../harness/registration/own_hooks.ts";
import {
  EMPTY_HOOK_FILE,
  ownGroups,
  type Registration,
} from "../../harness/registration/registration.ts";
import { type HookShape, surveyFile } from "../../harness/registration/hook_survey.ts";
import { findTargetFile } from "../../harness/registration/target_file.ts";
import { readText } from "../../platform/file_text.ts";
import { counted } from "../person_output.ts";
import { recordChange } from "./hook_record.ts";
import { type HookUnit, hookUnits, placesOf } from "./hook_units.ts";
import { notAHome } from "./not_a_home.ts";
import { type Plan, type PlannedFile, refusal } from "./plan.ts";
import type { InstallRequest } from "./request.ts";

/** Works out the registration with one harness. Writes nothing. */
export async function planHooks(
  registration: Registration,
  request: InstallRequest,
): Promise<Plan> {
  const { harness, trust, afterUpdate } = registration;
  const found = hookUnits(registration, request);
  if (found.kind === "none") return refusal(harness, found.wrong, found.todo);
  if (found.units.every(({ groups }) => groups.length === 0)) return notAHome(harness, request);
  const files: PlannedFile[] = [];
  const attention: string[] = [];
  for (const unit of found.units) {
    const planned = await planUnit(unit, registration, request);
    if (planned.kind === "refused") return refusal(harness, planned.wrong, planned.todo);
    if (planned.file !== undefined) files.push(planned.file);
    attention.push(...planned.attention);
  }
  if (request.extras.includes("activity") && !hasActivity(registration)) {
    attention.push(
      `${harness} has no hooks that tell what a session does; only the guard is there.`,
    );
  }
  const obstacle = registration.obstacle?.((name) => {
    const file = readText(join(request.root, name));
    return file.kind === "text" ? file.text : undefined;
  });
  if (obstacle !== undefined) attention.push(obstacle);
  attention.push(...registeredTwice(registration, request));
  return { kind: "planned", harness, files, trust, afterUpdate, attention };
}

/** That the guard stands both in the home and with the user, since a harness runs all it finds. */
function registeredTwice(registration: Registration, request: InstallRequest): readonly string[] {
  const other = placesOf(registration, { ...request, isForUser: !request.isForUser });
  const [place] = other.kind === "found" ? other.places : [];
  if (place === undefined) return [];
  const path = join(place.base, place.name);
  const file = readText(path);
  if (file.kind !== "text") return [];
  const groups = ownGroups(registration, request);
  if (!groups.some(isIn(file.text, registration.shape ?? "groups"))) return [];
  const flag = request.isForUser ? "" : " --user";
  return [
    `It is registered in ${path} too, and both may run at the end of a turn. To take that one out: ` +
    `turnguard uninstall ${registration.harness}${flag}`,
  ];
}

/** Whether a harness has hooks that tell what a session does. */
export function hasActivity({ extras = [] }: Registration): boolean {
  return extras.some(({ when }) => when === "activity");
}

type PlannedUnit =
  | {
    readonly kind: "planned";
    /** `undefined` when the file is not there and nothing is wanted in it. */
    readonly file?: PlannedFile;
    readonly attention: readonly string[];
  }
  | { readonly kind: "refused"; readonly wrong: string; readonly todo: string };

async function planUnit(
  unit: HookUnit,
  registration: Registration,
  request: InstallRequest,
): Promise<PlannedUnit> {
  const { place } = unit;
  const path = join(place.base, place.name);
  const target = findTargetFile(place.base, place.name, place);
  if (target.kind === "refused") return unusable(target);
  const { initial = EMPTY_HOOK_FILE, shape = "groups" } = registration;
  if (target.kind === "absent" && unit.groups.length === 0) {
    return { kind: "planned", attention: [] };
  }
  const decoded = target.kind === "present"
    ? decodeJson(target.bytes)
    : { kind: "text" as const, text: initial };
  if (decoded.kind === "refused") return malformed(path, decoded);
  if (
    target.kind === "present" && registration.isOwnFile && isForeign(decoded.text, registration)
  ) {
    return {
      kind: "refused",
      wrong: `${path} is somebody else's: none of its hooks is of turnguard`,
      todo: "move it out of the way, then install again",
    };
  }
  const wanted = [...unit.groups, ...unit.kept.filter(isIn(decoded.text, shape))];
  if (wanted.length === 0) return { kind: "planned", attention: [] };
  const put = (groups: readonly OwnGroup[]): ReturnType<typeof insertHooks> =>
    insertHooks(decoded.text, { shape, groups, replaceReferences: request.replacesShell });
  const first = put(wanted);
  // What comes with the guard does not come without it.
  const groups = first.kind === "edited" && first.references.length > 0
    ? wanted.filter((group) =>
      !comesWithGuard(registration, group) || isIn(decoded.text, shape)(group)
    )
    : wanted;
  const insertion = groups.length === wanted.length ? first : put(groups);
  if (insertion.kind === "refused") return malformed(path, insertion);
  const attention = leniency(path, decoded.text, registration);
  const { how, text: after, references } = insertion;
  const record = await recordChange(registration, request, target, decoded.text, insertion);
  const count = groups.flatMap(({ entries }) => entries).length;
  const file = { path, what: counted(count, "hook"), record, references } as const;
  if (how === "none") {
    return {
      kind: "planned",
      attention,
      file: { ...file, how: references.length > 0 ? "guarded" : "none" },
    };
  }
  const change = {
    label: place.label,
    path: target.path,
    before: target.kind === "present" ? target.bytes : undefined,
    after,
    mode: target.kind === "present" ? target.mode : undefined,
  };
  return { kind: "planned", attention, file: { ...file, how, change } };
}

/** Whether a group is one of those that are always registered beside the guard. */
function comesWithGuard({ extras = [] }: Registration, { entries }: OwnGroup): boolean {
  const paths = { executable: "/", root: "/" };
  const tokens = extras.filter(({ when }) => when === "always")
    .flatMap(({ template }) => ownGroups({ template }, paths))
    .flatMap((group) => group.entries.map(({ token }) => token));
  return entries.some(({ token }) => tokens.includes(token));
}

/** Tells which groups have an entry in a hook file. */
function isIn(text: string, shape: HookShape): (group: OwnGroup) => boolean {
  const survey = surveyFile(text, shape);
  if (survey.kind === "refused") return () => false;
  return ({ event, entries }) =>
    survey.entries.some((found) =>
      found.event === event && entries.some(({ token }) => hasToken(found.command, token))
    );
}

/** Whether a file that should be ours alone has neither our entries nor the suite's. */
function isForeign(text: string, { shape = "groups" }: Registration): boolean {
  const survey = surveyFile(text, shape);
  return survey.kind === "surveyed" &&
    !survey.entries.some(({ command }) =>
      command.includes(": turnguard:") || runsReference(command)
    );
}

/** What a harness that reads strict JSON has against the file. */
function leniency(path: string, text: string, { harness }: Registration): readonly string[] {
  const parsed = parseJson(text);
  if (parsed.kind === "refused" || parsed.leniency === undefined) return [];
  const { what, at } = parsed.leniency;
  return [
    `${path}:${at.line}:${at.column} has ${what}. It was kept, but strict JSON has none, and ` +
    `${harness} may pass the whole file over until it is gone.`,
  ];
}

function malformed(path: string, { because, at }: Refusal): PlannedUnit {
  return {
    kind: "refused",
    wrong: `${path}:${at.line}:${at.column}: the file ${because}`,
    todo: "correct that place, then do it again",
  };
}

function unusable({ path, because }: { path: string; because: string }): PlannedUnit {
  const todo = because === "is read-only"
    ? "make it writable, then do it again"
    : "move it out of the way, then do it again";
  return { kind: "refused", wrong: `${path} ${because}`, todo };
}
