/** Modules of ours taken out of the plugin folder of one harness. */

import { join } from "@std/path";
import type { PluginRegistration } from "../../harness/plugins/plugin_registration.ts";
import { findTargetFile } from "../../harness/registration/target_file.ts";
import type { FileChange, Plan, PlannedFile } from "./plan.ts";
import { refusal } from "./plan.ts";
import { isOurs, notForUser } from "./plan_plugins.ts";
import { readRecord, recordPath } from "./record.ts";
import type { Request } from "./request.ts";

/** Works out what has to go for one harness. Writes nothing. */
export async function planPluginRemoval(
  registration: PluginRegistration,
  request: Request,
): Promise<Plan> {
  const { harness, packageFile } = registration;
  if (request.isForUser) return notForUser(registration);
  const wanted = [
    ...registration.files.map((file) => ({
      path: file.path,
      what: "module",
      isOurs: (text: string) => isOurs(text, file),
    })),
    ...(packageFile === undefined ? [] : [{
      path: packageFile.path,
      what: "package file",
      isOurs: (text: string, created: boolean) => created && text === packageFile.text,
    }]),
  ];
  const files: PlannedFile[] = [];
  for (const each of wanted) {
    const path = join(request.root, each.path);
    const target = findTargetFile(request.root, each.path);
    const found = {
      path,
      what: each.what,
      isWhole: true,
      references: [],
      record: { kind: "keep" },
    } as const;
    if (target.kind === "refused") {
      return refusal(harness, `${target.path} ${target.because}`, "bring that in order");
    }
    if (target.kind === "absent") {
      files.push({ ...found, how: "none" });
      continue;
    }
    const at = await recordPath(request.environment, target.path);
    const record = at === undefined ? undefined : readRecord(at, target.path);
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(target.bytes);
    if (!each.isOurs(text, record?.created ?? false)) {
      files.push({ ...found, how: "none" });
      continue;
    }
    const change: FileChange = {
      label: each.path,
      path: target.path,
      before: target.bytes,
      after: record?.original,
      mode: target.mode,
      folders: record?.folders ?? [],
    };
    files.push({ ...found, how: "removed", change, record: { kind: "remove" } });
  }
  return { kind: "planned", harness, files, afterUpdate: [], attention: [] };
}
