/** `install`: registers the turn-end guard with a harness, without disturbing what is there. */

import process from "node:process";
import { dirname, isAbsolute, normalize } from "@std/path";
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff";
import { CODEX_HOOK_FILE, registerCodex } from "../harness/codex_registration.ts";
import { findExecutable } from "../harness/registration/executable.ts";
import { EMPTY_HOOK_FILE } from "../harness/registration/hook_entries.ts";
import { decodeJson, type Position } from "../harness/registration/json_text.ts";
import { findTargetFile, type TargetFile } from "../harness/registration/target_file.ts";
import { hasHomeShape, logicalWorkingDirectory } from "../observe/home.ts";
import { errorMessage } from "../platform/file_text.ts";
import { writeTo } from "../platform/output.ts";
import { printable } from "../platform/printable.ts";
import { removeQuietly, replaceFile } from "../state/replace_file.ts";
import { personHome } from "./call_home.ts";
import { type Call, EXIT, type ExitStatus, flagValue, hasFlag, type ModeSpec } from "./mode.ts";
import { complain, complainUsage, labelled, say } from "./person_output.ts";

/** The mode. */
export const installMode: ModeSpec = {
  name: "install",
  kind: "person",
  summary: "Register the turn-end guard with a harness.",
  operands: "codex",
  maximumOperands: 1,
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
    `codex: adds a Stop hook to ${CODEX_HOOK_FILE} in the root. Everything else in that file stays ` +
    "byte for byte; a file that is not strict JSON is left alone. Doing it again changes nothing.",
    "Codex runs a hook only in a project that it trusts, and only after the hook was reviewed: start " +
    "Codex in the root, trust the folder, open /hooks.",
    "The path that is registered keeps its links, so that it stays right after an upgrade.",
  ],
  startsPrograms: false,
  run: install,
};

async function install(call: Call): Promise<ExitStatus> {
  const [harness] = call.operands;
  if (harness === undefined) return await complainUsage("install", "say for which harness: codex");
  if (harness !== "codex") {
    return await complainUsage("install", `${JSON.stringify(harness)} is not codex`);
  }
  const plan = planCodex(call);
  switch (plan.kind) {
    case "refused":
      return await complain({ mode: "install", ...plan });
    case "unchanged":
      await say(plan.report);
      return EXIT.ok;
    case "change":
      return hasFlag(call, "dry-run") ? await show(plan) : await apply(plan);
  }
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
  readonly how: "added" | "replaced";
  readonly file: Exclude<TargetFile, { kind: "refused" }>;
  /** What is in the file now; the empty text when there is none. */
  readonly before: string;
  readonly after: string;
}

type Plan = Refused | Change | { readonly kind: "unchanged"; readonly report: readonly string[] };

function planCodex(call: Call): Plan {
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
  const file = findTargetFile(root, CODEX_HOOK_FILE);
  if (file.kind === "refused") {
    return refuse(`${file.path} ${file.because}`, "move it out of the way, then install again");
  }
  return planFile(file, { executable: executable.path, root });
}

function planFile(
  file: Change["file"],
  registration: { readonly executable: string; readonly root: string },
): Plan {
  const decoded = file.kind === "present" ? decodeJson(file.bytes) : undefined;
  if (decoded?.kind === "refused") return refuseText(file.path, decoded.because, decoded.at);
  const before = decoded?.text ?? "";
  const insertion = registerCodex(decoded?.text ?? EMPTY_HOOK_FILE, registration);
  switch (insertion.kind) {
    case "refused":
      return refuseText(file.path, insertion.because, insertion.at);
    case "unchanged":
      return {
        kind: "unchanged",
        report: insertion.because === "identical"
          ? alreadyRegistered(file.path)
          : guardedBySuite(file.path, insertion.at),
      };
    case "changed":
      return { kind: "change", how: insertion.how, file, before, after: insertion.text };
  }
}

function refuse(wrong: string, todo: string): Refused {
  return { kind: "refused", wrong, untouched: "nothing was written", todo };
}

function refuseText(path: string, because: string, { line, column }: Position): Refused {
  return {
    kind: "refused",
    wrong: `${path}:${line}:${column}: the file ${because}`,
    untouched: "it was left as it is",
    todo: "correct that place, then install again",
  };
}

/**
 * The root as it is registered: absolute, links kept, no slash at its end, since the guard compares
 * paths made from it byte for byte.
 */
function rootOf(call: Call): string {
  const given = flagValue(call, "root");
  if (given === undefined) return personHome(call).root;
  const path = isAbsolute(given) ? given : `${logicalWorkingDirectory(call.environment)}/${given}`;
  return withoutLastSlash(path.split("/").includes("..") ? physical(path) : normalize(path));
}

/** Behind a link `..` is another folder than the text says. */
function physical(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch {
    return normalize(path);
  }
}

function withoutLastSlash(path: string): string {
  return path.replace(/(?<=.)\/$/, "");
}

function executableOf(call: Call): ReturnType<typeof findExecutable> {
  const given = flagValue(call, "executable");
  if (given === undefined && !Deno.build.standalone) {
    const because = "runs turnguard from its sources";
    return { kind: "refused", path: Deno.execPath(), because };
  }
  return findExecutable({
    given,
    startedAs: process.argv0,
    running: Deno.execPath(),
    searchPath: call.environment.get("PATH"),
    workingDirectory: logicalWorkingDirectory(call.environment),
  });
}

/** The diff alone goes to standard output, so that it can be kept or applied. */
async function show({ file, before, after }: Change): Promise<ExitStatus> {
  const from = file.kind === "absent" ? "/dev/null" : `a/${CODEX_HOOK_FILE}`;
  const patch = createTwoFilesPatch(
    from,
    `b/${CODEX_HOOK_FILE}`,
    before,
    after,
    undefined,
    undefined,
    { context: 3, headerOptions: FILE_HEADERS_ONLY },
  );
  await writeTo("stdout", Deno.stdout.isTerminal() ? printableLines(patch) : patch);
  await writeTo("stderr", "turnguard install: dry run; nothing was written\n");
  return EXIT.ok;
}

/** A file's own text must not steer the terminal that shows it; tabs do no harm. */
function printableLines(text: string): string {
  return text.split("\n")
    .map((line) => line.split("\t").map(printable).join("\t"))
    .join("\n");
}

async function apply({ how, file, after }: Change): Promise<ExitStatus> {
  try {
    write(file, after);
  } catch (error) {
    return await complain({
      mode: "install",
      wrong: `${file.path} cannot be written: ${errorMessage(error)}`,
      untouched: "it was left as it is",
      todo: "make its folder writable, then install again",
    });
  }
  await say([
    how === "added" ? "Added the Stop hook to" : "Replaced turnguard's own Stop hook in",
    `  ${printable(file.path)}`,
    ...(how === "added" ? [] : labelled(
      "",
      "Its command has changed, so Codex does not trust it any more: it has to be reviewed again.",
    )),
    ...trustAdvice(),
  ]);
  return EXIT.ok;
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

function alreadyRegistered(path: string): readonly string[] {
  return ["Already registered; nothing was written:", `  ${printable(path)}`, ...trustAdvice()];
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

function trustAdvice(): readonly string[] {
  return labelled(
    "",
    "Codex runs the hook once it trusts the project and the hook was reviewed: start Codex there, " +
      "trust the folder, open /hooks. Scripted runs: codex exec --trust, and " +
      "--dangerously-bypass-hook-trust.",
  );
}
