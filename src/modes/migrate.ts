/** `migrate`: from the scripts of a Firstmate home to this executable, and exactly back. */

import { SUITE_SCRIPTS, type SuiteScript } from "../harness/suite_scripts.ts";
import { hasHomeShape } from "../observe/home.ts";
import { errorMessage } from "../platform/file_text.ts";
import { printable } from "../platform/printable.ts";
import { personHome } from "./call_home.ts";
import { judgeStateFiles } from "./migrate/compatibility.ts";
import { suiteEntries } from "./migrate/entries.ts";
import { forwarder } from "./migrate/forwarder.ts";
import {
  lookAt,
  ORIGINALS_NAME,
  putForwarder,
  putOriginal,
  removeEmptyFolder,
  replaceForwarder,
  type ScriptFolders,
  type ScriptPlace,
} from "./migrate/originals.ts";
import { type Call, EXIT, type ExitStatus, hasFlag, type ModeSpec } from "./mode.ts";
import { complain, counted, labelled, say, screenStyle, type Style } from "./person_output.ts";
import { executableOf, rootOf } from "./registered_paths.ts";

/** The mode. */
export const migrateMode: ModeSpec = {
  name: "migrate",
  kind: "person",
  summary: "Let this executable do the work of a Firstmate home's scripts, or undo that.",
  flags: [
    { name: "root", value: "DIR", summary: "Root of the home." },
    { name: "dry-run", summary: "Say what would be done and write nothing." },
    { name: "undo", summary: "Put every script back as it was." },
    {
      name: "executable",
      value: "PATH",
      summary: "Path to forward to, instead of the one this was started as.",
    },
  ],
  details: [
    "Each script of the suite that a mode replaces becomes a forwarder: a script of one exec, so " +
    "that whatever calls it by its name goes on working. The script itself is kept in " +
    `state/${ORIGINALS_NAME} and comes back with --undo, with its bytes and its mode. Doing it ` +
    "again changes nothing, after an upgrade to another path only the path.",
    "State files keep their names and forms; what they hold is looked at and told, not changed. " +
    "Hook files stay as well: their entries call the scripts by name. turnguard install HARNESS " +
    "--replace-shell takes the scripts out of the way of a hook.",
    "fm-lock.sh stays a script: the suite's session start calls it with arguments of its own. A " +
    "process that runs already goes on with the script it was started from.",
  ],
  startsPrograms: false,
  run: migrate,
};

/** What is to be done about one script. */
type Step =
  | { readonly kind: "absent" | "unchanged"; readonly script: SuiteScript }
  | {
    readonly kind: "forward";
    readonly script: SuiteScript;
    readonly original: Extract<ScriptPlace, { kind: "original" }>;
  }
  | { readonly kind: "update" | "restore" | "lost"; readonly script: SuiteScript }
  | { readonly kind: "refused"; readonly script: SuiteScript; readonly because: string };

async function migrate(call: Call): Promise<ExitStatus> {
  const root = rootOf(call);
  if (!hasHomeShape(root)) {
    return await complain({
      mode: migrateMode.name,
      wrong: `${root} is not a home: it needs a file AGENTS.md and a folder bin`,
      untouched: "nothing was written",
      todo: "name the home with --root DIR",
    });
  }
  const home = personHome(call);
  const folders = { bin: `${root}/bin`, originals: `${home.state}/${ORIGINALS_NAME}` };
  const undo = hasFlag(call, "undo");
  const executable = undo ? undefined : executableOf(call);
  if (executable?.kind === "refused") {
    return await complain({
      mode: migrateMode.name,
      wrong: `${executable.path} ${executable.because}`,
      untouched: "nothing was written",
      todo: "name another path of turnguard with --executable PATH, a link to it for example",
    });
  }
  const steps = SUITE_SCRIPTS.map((script) =>
    executable === undefined
      ? undoStep(folders, script)
      : forwardStep(folders, script, executable.path)
  );
  const refused = steps.filter((step) => step.kind === "refused");
  for (const { script, because } of refused) {
    await complain({
      mode: migrateMode.name,
      wrong: `${folders.bin}/${script.name} ${because}`,
      untouched: "nothing was written",
      todo: "make it a plain file again, then do this again",
    });
  }
  if (refused.length > 0) return EXIT.failure;

  const style = screenStyle(call.environment);
  const dryRun = hasFlag(call, "dry-run");
  if (!dryRun) {
    const stopped = apply(folders, steps, executable?.path ?? "");
    if (stopped !== undefined) return await complain({ mode: migrateMode.name, ...stopped });
  }
  await say(report(steps, undo, dryRun, style));
  if (!undo) {
    await say([...entryLines(root, style), ...stateLines(call, style)]);
  }
  if (dryRun) await say(["", "Dry run: nothing was written."]);
  return EXIT.ok;
}

function forwardStep(folders: ScriptFolders, script: SuiteScript, executable: string): Step {
  const place = lookAt(folders, script.name);
  switch (place.kind) {
    case "absent":
      return { kind: "absent", script };
    case "refused":
      return { kind: "refused", script, because: place.because };
    case "original":
      return { kind: "forward", script, original: place };
    case "forwarder":
      return {
        kind: place.text === forwarder(script, executable) ? "unchanged" : "update",
        script,
      };
  }
}

function undoStep(folders: ScriptFolders, script: SuiteScript): Step {
  const place = lookAt(folders, script.name);
  if (place.kind !== "forwarder") return { kind: "absent", script };
  return { kind: place.kept ? "restore" : "lost", script };
}

/** Does the steps; returns what stopped it, or `undefined`. */
function apply(
  folders: ScriptFolders,
  steps: readonly Step[],
  executable: string,
): { readonly wrong: string; readonly untouched: string; readonly todo: string } | undefined {
  for (const step of steps) {
    const { name } = step.script;
    try {
      if (step.kind === "forward") {
        putForwarder(folders, name, step.original, forwarder(step.script, executable));
      } else if (step.kind === "update") {
        replaceForwarder(folders, name, forwarder(step.script, executable));
      } else if (step.kind === "restore") putOriginal(folders, name);
    } catch (error) {
      return {
        wrong: `${folders.bin}/${name} cannot be written: ${errorMessage(error)}`,
        untouched: "it and the scripts after it are as they were",
        todo: "make bin and state writable, then do this again",
      };
    }
  }
  removeEmptyFolder(folders);
  return undefined;
}

function report(
  steps: readonly Step[],
  undo: boolean,
  dryRun: boolean,
  style: Style,
): readonly string[] {
  const told = steps.filter(({ kind }) => kind !== "absent");
  if (told.length === 0) {
    return [undo ? "No script forwards to turnguard." : "There is no script that a mode replaces."];
  }
  const width = Math.max(...told.map(({ script }) => script.name.length));
  return [
    style.title(undo ? "Scripts put back" : "Scripts"),
    ...told.map((step) => `  ${step.script.name.padEnd(width)}  ${inWords(step, dryRun)}`),
    ...(told.some(({ kind }) => kind === "lost")
      ? labelled("", "A forwarder whose script was not kept stays; bring the script back yourself.")
      : []),
  ];
}

function inWords({ kind, script }: Step, dryRun: boolean): string {
  const would = dryRun ? "would forward" : "forwards";
  switch (kind) {
    case "forward":
    case "update":
      return `${would} to: turnguard ${script.words.join(" ")}`;
    case "restore":
      return dryRun ? "would be the script again" : "is the script again";
    case "lost":
      return "forwards; its script was not kept";
    default:
      return `forwards already: turnguard ${script.words.join(" ")}`;
  }
}

function entryLines(root: string, style: Style): readonly string[] {
  const entries = suiteEntries(root);
  if (entries.length === 0) return [];
  const harnesses = [...new Set(entries.map(({ harness }) => harness))];
  return [
    "",
    style.title(`${counted(entries.length, "hook entry", "hook entries")} that call a script`),
    ...entries.map(({ file, line, script }) => `  ${printable(file)}:${line}  ${script}`),
    ...labelled("  ", "They go on working. To register turnguard itself instead:"),
    ...harnesses.map((harness) => `    turnguard install ${harness} --replace-shell`),
  ];
}

function stateLines(call: Call, style: Style): readonly string[] {
  const verdicts = judgeStateFiles(personHome(call), call.environment);
  if (verdicts.length === 0) return ["", "State files: none that the scripts left."];
  const width = Math.max(...verdicts.map(({ name }) => name.length));
  return [
    "",
    style.title("State files"),
    ...verdicts.map(({ name, kind, saw }) => {
      const mark = kind === "readable" ? style.good("readable") : style.bad("unusable");
      return `  ${printable(name).padEnd(width)}  ${mark}  ${printable(saw)}`;
    }),
  ];
}
