/** Plans carried out: every file of every harness, or none. */

import { dirname } from "@std/path";
import type { Environment } from "../../platform/environment.ts";
import { errorMessage } from "../../platform/file_text.ts";
import { removeQuietly, replaceFile } from "../../state/replace_file.ts";
import { applyChanges } from "./apply.ts";
import type { Plan, PlannedFile } from "./plan.ts";
import { type InstallRecord, readRecord, recordPath } from "./record.ts";

/** How it went. */
export type Performed =
  | {
    readonly kind: "done";
    /** What cannot be undone to the byte, since it could not be remembered. */
    readonly attention: readonly string[];
  }
  | {
    readonly kind: "failed";
    readonly wrong: string;
    readonly untouched: string;
    readonly todo: string;
  };

/** Only the owner reads them: they hold pieces of files that may be closed to others. */
const RECORD_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** Carries out plans, none of which is refused. */
export async function perform(
  plans: readonly Plan[],
  environment: Environment,
): Promise<Performed> {
  const files = plans.flatMap((plan) => plan.kind === "planned" ? plan.files : []);
  const attention: string[] = [];
  const undo: (() => void)[] = [];
  for (const file of files) {
    if (file.record.kind !== "write") continue;
    const remembered = await remember(file.record.record, environment);
    if (remembered.kind === "done") {
      undo.push(remembered.back);
    } else if (isNeeded(file.record.record)) {
      for (const back of undo) back();
      return {
        kind: "failed",
        wrong: `what ${file.path} holds now cannot be remembered (${remembered.because})`,
        untouched: "nothing was written",
        todo: "set XDG_STATE_HOME to a folder that can be written, then do it again",
      };
    } else {
      attention.push(
        `What ${file.path} was before could not be remembered (${remembered.because}): uninstall ` +
          "may leave an empty file or folder there, or drop an empty list.",
      );
    }
  }
  const applied = applyChanges(files.flatMap(({ change }) => change === undefined ? [] : [change]));
  if (applied.kind === "done") {
    for (const file of files) await forget(file, environment);
    return { kind: "done", attention };
  }
  for (const back of undo) back();
  return {
    kind: "failed",
    wrong: `${applied.path} ${applied.because}`,
    untouched: applied.left.length === 0
      ? "every file is as it was"
      : `all but these are as they were: ${applied.left.join(", ")}`,
    todo: "see that it and its folder can be written, then do it again",
  };
}

/** Whether it holds what others wrote and nothing else has any more. */
function isNeeded({ replaced, original }: InstallRecord): boolean {
  return replaced.length > 0 || original !== undefined;
}

type Remembered =
  | { readonly kind: "done"; readonly back: () => void }
  | { readonly kind: "failed"; readonly because: string };

async function remember(record: InstallRecord, environment: Environment): Promise<Remembered> {
  const at = await recordPath(environment, record.path);
  if (at === undefined) return { kind: "failed", because: "HOME names no folder" };
  const old = readRecord(at, record.path);
  try {
    Deno.mkdirSync(dirname(at), { recursive: true, mode: FOLDER_MODE });
    write(at, record);
  } catch (error) {
    return { kind: "failed", because: errorMessage(error) };
  }
  return { kind: "done", back: () => old === undefined ? removeQuietly(at) : write(at, old) };
}

function write(at: string, record: InstallRecord): void {
  replaceFile(at, `${JSON.stringify(record, null, 2)}\n`, { mode: RECORD_MODE });
}

async function forget({ record, change }: PlannedFile, environment: Environment): Promise<void> {
  if (record.kind !== "remove" || change === undefined) return;
  const at = await recordPath(environment, change.path);
  if (at !== undefined) removeQuietly(at);
}
