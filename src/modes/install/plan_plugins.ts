/** Modules of ours put into the plugin folder of one harness. */

import { dirname, join } from "@std/path";
import type { PluginFile } from "../../harness/plugins/plugin_file.ts";
import type { PluginRegistration } from "../../harness/plugins/plugin_registration.ts";
import { runsReference } from "../../harness/registration/own_hooks.ts";
import { findTargetFile, type TargetFile } from "../../harness/registration/target_file.ts";
import { missingFolders } from "./apply.ts";
import { notAHome } from "./not_a_home.ts";
import { type Plan, type PlannedFile, refusal } from "./plan.ts";
import type { InstallRecord } from "./record.ts";
import type { InstallRequest } from "./request.ts";

/** Works out the registration with one harness. Writes nothing. */
export function planPlugins(registration: PluginRegistration, request: InstallRequest): Plan {
  const { harness, trust, packageFile } = registration;
  if (request.isForUser) return notForUser(registration);
  if (!request.guards) return notAHome(harness, request);
  const planned = registration.files.map((file) => planModule(file, request));
  const files: PlannedFile[] = [];
  for (const each of planned) {
    if ("wrong" in each) return refusal(harness, each.wrong, each.todo);
    files.push(each);
  }
  const attention: string[] = [];
  if (packageFile !== undefined && files.some(({ how }) => how !== "guarded")) {
    const path = join(request.root, packageFile.path);
    const target = findTargetFile(request.root, packageFile.path);
    if (target.kind === "absent") files.push(newFile(path, packageFile, target, "package file"));
    else if (target.kind === "refused") {
      return refusal(harness, `${target.path} ${target.because}`, "bring that in order");
    } else if (!isModuleFolder(target.bytes)) {
      attention.push(
        `${path} has no "type": "module", which the plugin needs to be loaded. It was left as it is.`,
      );
    }
  }
  return { kind: "planned", harness, files, trust, afterUpdate: [], attention };
}

/** The refusal of `--user` for a harness that has no place for it. */
export function notForUser({ harness, notForUser }: PluginRegistration): Plan {
  return refusal(
    harness,
    `${harness} cannot be registered for a user: ${notForUser.replace(/\.$/, "")}`,
    "leave --user out to register it in a home",
  );
}

/** Whether a module is ours: its first line says so. */
export function isOurs(text: string, { token }: PluginFile): boolean {
  return (text.split("\n", 1)[0] ?? "").includes(token);
}

type Wrong = { readonly wrong: string; readonly todo: string };

function planModule(file: PluginFile, request: InstallRequest): PlannedFile | Wrong {
  const path = join(request.root, file.path);
  const target = findTargetFile(request.root, file.path);
  const text = file.text(request.executable);
  if (target.kind === "refused") {
    return { wrong: `${target.path} ${target.because}`, todo: "move it out of the way" };
  }
  if (target.kind === "absent") return newFile(path, { path: file.path, text }, target, "module");
  const before = new TextDecoder("utf-8", { ignoreBOM: true }).decode(target.bytes);
  const change = {
    label: file.path,
    path: target.path,
    before: target.bytes,
    after: text,
    mode: target.mode,
  };
  const found = {
    path,
    what: "module",
    isWhole: true,
    record: { kind: "keep" },
    references: [],
  } as const;
  if (isOurs(before, file)) {
    return before === text ? { ...found, how: "none" } : { ...found, how: "updated", change };
  }
  if (!runsReference(before)) {
    return {
      wrong: `${path} is somebody else's: its first line does not say that it is turnguard's`,
      todo: "move it out of the way, then install again",
    };
  }
  if (!request.replacesShell) {
    return { ...found, how: "guarded", references: [{ line: 1, column: 1 }] };
  }
  const record = { ...recordOf(target), original: before };
  return { ...found, how: "added", change, record: { kind: "write", record } };
}

function newFile(
  path: string,
  file: { readonly path: string; readonly text: string },
  target: Extract<TargetFile, { kind: "absent" }>,
  what: string,
): PlannedFile {
  const change = {
    label: file.path,
    path: target.path,
    before: undefined,
    after: file.text,
    mode: undefined,
  };
  const record = recordOf(target);
  return {
    how: "added",
    path,
    what,
    isWhole: true,
    change,
    references: [],
    record: { kind: "write", record },
  };
}

function recordOf(target: Exclude<TargetFile, { kind: "refused" }>): InstallRecord {
  const created = target.kind === "absent";
  const folders = created ? missingFolders(dirname(target.path)) : [];
  return { version: 1, path: target.path, created, folders, filled: [], replaced: [] };
}

function isModuleFolder(bytes: Uint8Array): boolean {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof value === "object" && value !== null && "type" in value &&
      value.type === "module";
  } catch {
    return false;
  }
}
