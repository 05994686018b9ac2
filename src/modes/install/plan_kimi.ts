/** The turn-end hook of Kimi's workers: one region of the user's configuration, and its script. */

import { isAbsolute, join } from "@std/path";
import { isKimiScript, isUnchangedKimiScript, kimiScript } from "../../harness/kimi/kimi_script.ts";
import {
  type KimiEdit,
  withKimiRegion,
  withoutKimiRegion,
} from "../../harness/kimi/kimi_region.ts";
import { decodeJson, type Refusal } from "../../harness/registration/json_text.ts";
import type { Environment } from "../../platform/environment.ts";
import { ownKind } from "../../platform/path_kind.ts";
import type { FileChange, Plan, PlannedFile } from "./plan.ts";
import { refusal } from "./plan.ts";
import type { InstallRequest, Request } from "./request.ts";

const HARNESS = "kimi";
const SCRIPT_MODE = 0o700;
const TOKEN_NAME = /^fm\.[A-Za-z0-9]{12}$/;
/** Bits that would let others read or change the script. */
const OF_OTHERS = 0o077;

/** Works out the registration. Writes nothing. */
export function planKimi(
  { environment, executable }: Pick<InstallRequest, "environment" | "executable">,
): Plan {
  const opened = openFolder(environment, withKimiRegion);
  if (opened.kind === "refused") return refused(opened.wrong);
  const { folder, config } = opened;
  const registry = join(folder, "fm-turn-end.d");
  const registryKind = ownKind(registry);
  if (registryKind !== "absent" && registryKind !== "directory") {
    return refused(`${registry} is not a real folder`);
  }
  const script = join(folder, "fm-turn-end.sh");
  const old = readOwn(script);
  if (old === "wrong") return refused(`${script} is not a regular file`);
  if (old !== undefined && !isKimiScript(old.text)) {
    return refused(`${script} is somebody else's: it does not start as a script of ours does`);
  }
  const text = kimiScript(executable);
  const isCurrent = old?.text === text && old.mode === SCRIPT_MODE;
  const attention = environment.get("KIMI_CODE_HOME") === undefined ? [] : [
    "KIMI_CODE_HOME is set, but the hook is in .kimi-code in your folder, as the scripts expect.",
  ];
  const registryFile = planned(registry, "folder", "added", {
    before: undefined,
    after: "",
    mode: SCRIPT_MODE,
    isFolder: true,
  });
  const scriptChange = { before: old?.bytes, after: text, mode: SCRIPT_MODE };
  return {
    kind: "planned",
    harness: HARNESS,
    files: [
      ...registryKind === "absent" ? [registryFile] : [],
      planned(
        script,
        "script",
        old === undefined ? "added" : "updated",
        isCurrent ? undefined : scriptChange,
      ),
      configFile(config, "added"),
    ],
    trust:
      "Kimi asks for no trust: it runs the hook at the end of every turn, in every project. It " +
      "does something only where a task of a home was started.",
    afterUpdate: [],
    attention,
  };
}

/** Works out what has to go. Writes nothing. */
export async function planKimiRemoval(
  { environment }: Pick<Request, "environment">,
): Promise<Plan> {
  const opened = openFolder(environment, withoutKimiRegion);
  // Where Kimi has never been, nothing of ours is.
  if (opened.kind === "refused" && opened.isAbsent) return nothingThere(opened.path);
  if (opened.kind === "refused") return refused(opened.wrong);
  const { folder, config } = opened;
  const files: PlannedFile[] = [configFile(config, "removed")];
  const script = join(folder, "fm-turn-end.sh");
  const old = readOwn(script);
  if (old === "wrong") return refused(`${script} is not a regular file`);
  if (old !== undefined) {
    if (!await isUnchangedKimiScript(old.text)) {
      return refused(`${script} is not as it was installed`);
    }
    if ((old.mode & OF_OTHERS) !== 0) return refused(`${script} is open to others`);
    files.push(planned(script, "script", "removed", { before: old.bytes, after: undefined }));
  }
  const registry = join(folder, "fm-turn-end.d");
  const kind = ownKind(registry);
  if (kind !== "absent") {
    if (kind !== "directory") return refused(`${registry} is not a real folder`);
    for (const { name } of Deno.readDirSync(registry)) {
      const path = join(registry, name);
      const token = TOKEN_NAME.test(name) ? readOwn(path) : "wrong";
      if (token === "wrong" || token === undefined) {
        return refused(`${path} is not a token of a task`);
      }
      files.push(planned(path, "token", "removed", { before: token.bytes, after: undefined }));
    }
    const gone = { before: undefined, after: undefined, isFolder: true } as const;
    files.push(planned(registry, "folder", "removed", { ...gone, mode: SCRIPT_MODE }));
  }
  return { kind: "planned", harness: HARNESS, files, afterUpdate: [], attention: [] };
}

type OpenedFolder =
  | {
    readonly kind: "opened";
    readonly folder: string;
    readonly config: {
      readonly path: string;
      readonly bytes: Uint8Array;
      readonly mode: number;
      readonly before: string;
      readonly edit: Exclude<KimiEdit, Refusal>;
    };
  }
  | {
    readonly kind: "refused";
    readonly wrong: string;
    readonly path: string;
    readonly isAbsent: boolean;
  };

/** Kimi's folder with its configuration, edited; links are not followed, as the suite has it. */
function openFolder(environment: Environment, edit: (text: string) => KimiEdit): OpenedFolder {
  const home = environment.get("HOME");
  const no = (path: string, because: string, isAbsent = false): OpenedFolder => ({
    kind: "refused",
    wrong: `${path} ${because}`,
    path,
    isAbsent,
  });
  if (home === undefined || !isAbsolute(home)) return no("HOME", "does not name a folder");
  const folder = join(home, ".kimi-code");
  const kind = ownKind(folder);
  if (kind === "absent") return no(folder, "does not exist: Kimi has not been started yet", true);
  if (kind !== "directory") return no(folder, "is not a folder, or a link to one");
  const path = join(folder, "config.toml");
  const config = readOwn(path);
  if (config === undefined) return no(path, "does not exist: Kimi config is missing", true);
  if (config === "wrong") return no(path, "is not a regular file, or a link to one");
  const decoded = decodeJson(config.bytes);
  if (decoded.kind === "refused") return no(placed(path, decoded), `the file ${decoded.because}`);
  const edited = edit(decoded.text);
  if (edited.kind === "refused") return no(placed(path, edited), `the file ${edited.because}`);
  const { bytes, mode } = config;
  return {
    kind: "opened",
    folder,
    config: { path, bytes, mode, before: decoded.text, edit: edited },
  };
}

function placed(path: string, { at }: Refusal): string {
  return `${path}:${at.line}:${at.column}:`;
}

interface OwnFile {
  readonly bytes: Uint8Array;
  readonly text: string;
  readonly mode: number;
}

/** A file that is no link, `undefined` when there is none. */
function readOwn(path: string): OwnFile | "wrong" | undefined {
  const kind = ownKind(path);
  if (kind === "absent") return undefined;
  if (kind !== "file") return "wrong";
  const bytes = Deno.readFileSync(path);
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  return { bytes, text, mode: (Deno.statSync(path).mode ?? SCRIPT_MODE) & 0o777 };
}

function configFile(
  { path, bytes, mode, before, edit }: Extract<OpenedFolder, { kind: "opened" }>["config"],
  how: "added" | "removed",
): PlannedFile {
  const change = { before: bytes, after: edit.text, mode };
  return planned(path, "hook", how, edit.text === before ? undefined : change);
}

function planned(
  path: string,
  what: string,
  how: Exclude<PlannedFile["how"], "none" | "guarded">,
  change:
    | Pick<FileChange, "before" | "after" | "isFolder"> & { readonly mode?: number }
    | undefined,
): PlannedFile {
  const whole = what === "hook" ? {} : { isWhole: true } as const;
  const found = { path, what: `1 ${what}`, record: { kind: "keep" }, references: [] } as const;
  const file = { ...found, ...whole };
  if (change === undefined) return { ...file, how: "none" };
  const label = path.replace(/^\/+/, "");
  return { ...file, how, change: { mode: undefined, ...change, label, path } };
}

function nothingThere(path: string): Plan {
  const file = { path, what: "", how: "none", record: { kind: "keep" }, references: [] } as const;
  return { kind: "planned", harness: HARNESS, files: [file], afterUpdate: [], attention: [] };
}

function refused(wrong: string): Plan {
  return refusal(HARNESS, wrong, "bring that in order, then do it again");
}
