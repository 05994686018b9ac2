/** Entries of ours taken out of the hook files of one harness. */

import { join } from "@std/path";
import { decodeJson, type Refusal } from "../../harness/registration/json_text.ts";
import { EMPTY_HOOK_FILE, type Registration } from "../../harness/registration/registration.ts";
import { removeHooks } from "../../harness/registration/remove_hooks.ts";
import { findTargetFile } from "../../harness/registration/target_file.ts";
import { counted } from "../person_output.ts";
import { placesOf, tokensOf } from "./hook_units.ts";
import { type FileChange, type Plan, type PlannedFile, refusal } from "./plan.ts";
import type { Place } from "./places.ts";
import { readRecord, recordPath } from "./record.ts";
import type { Request } from "./request.ts";

/** Works out what has to go for one harness. Writes nothing. */
export async function planRemoval(registration: Registration, request: Request): Promise<Plan> {
  const { harness } = registration;
  const found = placesOf(registration, request);
  if (found.kind === "none") return refusal(harness, found.wrong, found.todo);
  const files: PlannedFile[] = [];
  for (const place of found.places) {
    const planned = await planPlace(place, registration, request);
    if (planned.kind === "refused") return refusal(harness, planned.wrong, planned.todo);
    files.push(planned.file);
  }
  return { kind: "planned", harness, files, afterUpdate: [], attention: [] };
}

type PlannedPlace =
  | { readonly kind: "planned"; readonly file: PlannedFile }
  | { readonly kind: "refused"; readonly wrong: string; readonly todo: string };

async function planPlace(
  place: Place,
  { initial = EMPTY_HOOK_FILE, shape = "groups", ...registration }: Registration,
  { environment }: Request,
): Promise<PlannedPlace> {
  const path = join(place.base, place.name);
  const nothing: PlannedFile = {
    how: "none",
    path,
    what: "",
    record: { kind: "keep" },
    references: [],
  };
  const target = findTargetFile(place.base, place.name, place);
  if (target.kind === "absent") return { kind: "planned", file: nothing };
  if (target.kind === "refused") {
    const todo = "bring that in order, then do it again";
    return { kind: "refused", wrong: `${target.path} ${target.because}`, todo };
  }
  const decoded = decodeJson(target.bytes);
  if (decoded.kind === "refused") return malformed(path, decoded);
  const at = await recordPath(environment, target.path);
  const record = at === undefined ? undefined : readRecord(at, target.path);
  const removal = removeHooks(decoded.text, shape, tokensOf(registration), record);
  if (removal.kind === "refused") return malformed(path, removal);
  if (removal.count === 0) return { kind: "planned", file: nothing };
  const isEmptied = record?.created === true && removal.text === initial;
  const change: FileChange = {
    label: place.label,
    path: target.path,
    before: target.bytes,
    after: isEmptied ? undefined : removal.text,
    mode: target.mode,
    ...(isEmptied ? { folders: record.folders } : {}),
  };
  const what = counted(removal.count, "hook");
  return {
    kind: "planned",
    file: { ...nothing, how: "removed", what, change, record: { kind: "remove" } },
  };
}

function malformed(path: string, { because, at }: Refusal): PlannedPlace {
  return {
    kind: "refused",
    wrong: `${path}:${at.line}:${at.column}: the file ${because}`,
    todo: "correct that place, then do it again",
  };
}
