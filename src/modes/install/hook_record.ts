/** What has to be remembered of a hook file that is about to be changed. */

import { dirname } from "@std/path";
import type { Insertion } from "../../harness/registration/insert_hooks.ts";
import type { Registration } from "../../harness/registration/registration.ts";
import { removeHooks } from "../../harness/registration/remove_hooks.ts";
import type { TargetFile } from "../../harness/registration/target_file.ts";
import { missingFolders } from "./apply.ts";
import { tokensOf } from "./hook_units.ts";
import type { RecordChange } from "./plan.ts";
import { readRecord, recordPath } from "./record.ts";
import type { InstallRequest } from "./request.ts";

/** What has to be remembered so that the file can come back as it is now. */
export async function recordChange(
  registration: Registration,
  { environment }: InstallRequest,
  target: Exclude<TargetFile, { kind: "refused" }>,
  before: string,
  insertion: Exclude<Insertion, { kind: "refused" }>,
): Promise<RecordChange> {
  if (insertion.how === "none") return { kind: "keep" };
  const { shape = "groups" } = registration;
  const tokens = tokensOf(registration);
  const hadOurs = removeHooks(before, shape, tokens);
  const isFirst = hadOurs.kind === "edited" && hadOurs.count === 0;
  const at = await recordPath(environment, target.path);
  const old = isFirst || at === undefined ? undefined : readRecord(at, target.path);
  const created = target.kind === "absent" || (old?.created ?? false);
  const undone = removeHooks(insertion.text, shape, tokens);
  const isExact = undone.kind === "edited" && undone.text === before;
  if (isFirst && isExact && !created) return { kind: "remove" };
  if (!isFirst && insertion.memory.filled.length + insertion.memory.replaced.length === 0) {
    return { kind: "keep" };
  }
  const { filled, replaced } = insertion.memory;
  return {
    kind: "write",
    record: {
      version: 1,
      path: target.path,
      created,
      folders: target.kind === "absent" ? missingFolders(dirname(target.path)) : old?.folders ?? [],
      filled: [...(old?.filled ?? []), ...filled],
      replaced: [...(old?.replaced ?? []), ...replaced],
    },
  };
}
