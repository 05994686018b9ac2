/** `install`: registers the turn-end guard with a harness, without disturbing what is there. */

import { dirname } from "@std/path";
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff";
import { EMPTY_HOOK_FILE } from "../harness/registration/hook_entries.ts";
import { decodeJson, type Position } from "../harness/registration/json_text.ts";
import { register, type Registration, STOP_EVENT } from "../harness/registration/registration.ts";
import { REGISTRATIONS } from "../harness/registration/table.ts";
import { findTargetFile, type TargetFile } from "../harness/registration/target_file.ts";
import { hasHomeShape } from "../observe/home.ts";
import { errorMessage, readText } from "../platform/file_text.ts";
import { writeTo } from "../platform/output.ts";
import { printable } from "../platform/printable.ts";
import { removeQuietly, replaceFile } from "../state/replace_file.ts";
import { type Call, EXIT, type ExitStatus, hasFlag, type ModeSpec } from "./mode.ts";
import { complain, complainUsage, counted, labelled, say } from "./person_output.ts";
import { executableOf, rootOf } from "./registered_paths.ts";

const HARNESSES = REGISTRATIONS.map(({ harness }) => harness);

/** The mode. */
export const installMode: ModeSpec = {
  name: "install",
  kind: "person",
  summary: "Register the turn-end guard with a harness.",
  operands: `${HARNESSES.join(" | ")} ...`,
  maximumOperands: HARNESSES.length,
  flags: [
    { name: "root", value: "DIR", summary: "Root of the home." },
    { name: "dry-run", summary: "Print the change as a unified diff and write nothing." },
    {
      name: "executable",
      value: "PATH",
      summary: "Path to register, instead of the one this was started as.",
    },
  ],
  details: [
    "Everything else in a hook file stays byte for byte; a file that is not strict JSON is left " +
    "alone. Doing it again changes nothing. Of several harnesses either all are registered or none.",
    ...REGISTRATIONS.map(({ details }) => details),
    "The path that is registered keeps its links, so that it stays right after an upgrade.",
  ],
  startsPrograms: false,
  run: install,
};

async function install(call: Call): Promise<ExitStatus> {
  const registrations = REGISTRATIONS.filter(({ harness }) => call.operands.includes(harness));
  const wrong = whatIsWrong(call.operands);
  if (wrong !== undefined) return await complainUsage("install", wrong);
  const plans = registrations.map((registration) => plan(call, registration));
  const refused = plans.filter((each) => each.kind === "refused");
  for (const each of refused) await complain({ mode: "install", ...each });
  if (refused.length > 0) return EXIT.failure;
  const dryRun = hasFlag(call, "dry-run");
  for (const each of plans) {
    if (each.kind === "unchanged") await say(each.report);
    if (each.kind !== "change") continue;
    if (dryRun) await show(each);
    else if (!await apply(each)) return EXIT.failure;
  }
  if (dryRun) await writeTo("stderr", "turnguard install: dry run; nothing was written\n");
  return EXIT.ok;
}

function whatIsWrong(words: readonly string[]): string | undefined {
  if (words.length === 0) return `say for which harness: ${HARNESSES.join(" or ")}`;
  const unknown = words.find((word) => !HARNESSES.includes(word));
  if (unknown !== undefined) return `${JSON.stringify(unknown)} is not ${HARNESSES.join(" or ")}`;
  const twice = words.find((word, index) => words.indexOf(word) < index);
  return twice === undefined ? undefined : `${twice} is named twice`;
}

/** Why nothing was done. */
interface Refused {
  readonly kind: "refused";
  readonly wrong: string;
  readonly untouched: string;
  readonly todo: string;
}

/** A change that is worked out but not made. */
interface Change {
  readonly kind: "change";
  readonly registration: Registration;
  readonly how: "added" | "updated";
  readonly file: Exclude<TargetFile, { kind: "refused" }>;
  /** What is in the file now; the empty text when there is none. */
  readonly before: string;
  readonly after: string;
  /** What the harness asks for before the change has an effect. */
  readonly advice: readonly string[];
}

type Plan = Refused | Change | { readonly kind: "unchanged"; readonly report: readonly string[] };

function plan(call: Call, registration: Registration): Plan {
  const root = rootOf(call);
  if (!hasHomeShape(root)) {
    return refuse(
      `${root} is not a home: it needs a file AGENTS.md and a folder bin`,
      "make it one with turnguard init, or name the home with --root DIR",
    );
  }
  const executable = executableOf(call);
  if (executable.kind === "refused") {
    return refuse(
      `${executable.path} ${executable.because}`,
      "name another path of turnguard with --executable PATH, a link to it for example",
    );
  }
  const file = findTargetFile(root, registration.file);
  if (file.kind === "refused") {
    return refuse(`${file.path} ${file.because}`, "move it out of the way, then install again");
  }
  return planFile(file, registration, { executable: executable.path, root });
}

function planFile(
  file: Change["file"],
  registration: Registration,
  paths: { readonly executable: string; readonly root: string },
): Plan {
  const decoded = file.kind === "present" ? decodeJson(file.bytes) : undefined;
  if (decoded?.kind === "refused") return refuseText(file.path, decoded.because, decoded.at);
  const before = decoded?.text ?? "";
  const insertion = register(decoded?.text ?? EMPTY_HOOK_FILE, registration, paths);
  const advice = adviceFor(registration, paths.root);
  switch (insertion.kind) {
    case "refused":
      return refuseText(file.path, insertion.because, insertion.at);
    case "unchanged":
      return {
        kind: "unchanged",
        report: insertion.because === "identical"
          ? ["Already registered; nothing was written:", `  ${printable(file.path)}`, ...advice]
          : guardedBySuite(file.path, insertion.at),
      };
    case "changed": {
      const { how, text: after } = insertion;
      return { kind: "change", registration, how, file, before, after, advice };
    }
  }
}

function refuse(wrong: string, todo: string): Refused {
  return { kind: "refused", wrong, untouched: "nothing was written", todo };
}

function refuseText(path: string, because: string, { line, column }: Position): Refused {
  return refuse(
    `${path}:${line}:${column}: the file ${because}`,
    "correct that place, then install again",
  );
}

/** The diff alone goes to standard output, so that it can be kept or applied. */
async function show({ registration, file, before, after }: Change): Promise<void> {
  const from = file.kind === "absent" ? "/dev/null" : `a/${registration.file}`;
  const patch = createTwoFilesPatch(
    from,
    `b/${registration.file}`,
    before,
    after,
    undefined,
    undefined,
    { context: 3, headerOptions: FILE_HEADERS_ONLY },
  );
  await writeTo("stdout", Deno.stdout.isTerminal() ? printableLines(patch) : patch);
}

/** A file's own text must not steer the terminal that shows it; tabs do no harm. */
function printableLines(text: string): string {
  return text.split("\n")
    .map((line) => line.split("\t").map(printable).join("\t"))
    .join("\n");
}

/** Whether it could be done. */
async function apply({ registration, how, file, after, advice }: Change): Promise<boolean> {
  try {
    write(file, after);
  } catch (error) {
    await complain({
      mode: "install",
      wrong: `${file.path} cannot be written: ${errorMessage(error)}`,
      untouched: "it was left as it is",
      todo: "make its folder writable, then install again",
    });
    return false;
  }
  const count = registration.template.hooks[STOP_EVENT].flatMap(({ hooks }) => hooks).length;
  await say([
    how === "added"
      ? `Added ${counted(count, "Stop hook")} to`
      : `Brought turnguard's own ${counted(count, "Stop hook")} up to date in`,
    `  ${printable(file.path)}`,
    ...(how === "added" ? [] : registration.afterUpdate).flatMap((text) => labelled("", text)),
    ...advice,
  ]);
  return true;
}

function write(file: Change["file"], text: string): void {
  if (file.kind === "present") {
    const { path, mode } = file;
    replaceFile(path, text, mode === undefined ? {} : { mode });
    // The umask has taken bits from a new file that the old one had.
    if (mode !== undefined) Deno.chmodSync(path, mode);
    return;
  }
  const folder = dirname(file.path);
  const isNew = makeFolder(folder);
  try {
    replaceFile(file.path, text);
  } catch (error) {
    if (isNew) removeQuietly(folder);
    throw error;
  }
}

/** Whether the folder had to be made. */
function makeFolder(path: string): boolean {
  try {
    Deno.mkdirSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return false;
    throw error;
  }
}

function guardedBySuite(path: string, at: Position): readonly string[] {
  return [
    "A Stop hook of the fm-*.sh scripts is already registered in",
    `  ${printable(path)}:${at.line}`,
    ...labelled(
      "",
      "It was left as it is: with two guards every turn would be blocked twice. To use this one " +
        "instead, take that hook out and install again.",
    ),
  ];
}

function adviceFor(registration: Registration, root: string): readonly string[] {
  const obstacle = registration.obstacle?.((name) => {
    const file = readText(`${root}/${name}`);
    return file.kind === "text" ? file.text : undefined;
  });
  return [
    ...labelled("", registration.trust),
    ...(obstacle === undefined ? [] : labelled("Attention: ", obstacle)),
  ];
}
