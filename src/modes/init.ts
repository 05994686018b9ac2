/** `init`: a home of its own for one agent, made of the few things that the scope rule asks for. */

import { dirname, relative, resolve } from "@std/path";
import { isGenuineMarker, judgeScope } from "../decide/scope.ts";
import { REGISTRATIONS } from "../harness/registration/table.ts";
import { gitLayout } from "../observe/git_layout.ts";
import { findHome, type Home, logicalWorkingDirectory } from "../observe/home.ts";
import { observeScope } from "../observe/scope.ts";
import { OWN_HOME_NAME } from "../observe/session.ts";
import { environmentOf } from "../platform/environment.ts";
import { errorMessage, readCapture, readText } from "../platform/file_text.ts";
import { ownKind, targetKind } from "../platform/path_kind.ts";
import { printable } from "../platform/printable.ts";
import { createFile } from "../state/create_file.ts";
import { randomName } from "../state/replace_file.ts";
import { type Call, EXIT, type ExitStatus, hasFlag, type ModeSpec } from "./mode.ts";
import { complain, labelled, pasteable, say, screenStyle } from "./person_output.ts";

/** The mode. */
export const initMode: ModeSpec = {
  name: "init",
  kind: "person",
  summary: "Make a home: state/, bin/, AGENTS.md and, outside a checkout, a marker.",
  operands: "[DIR]",
  maximumOperands: 1,
  flags: [
    { name: "worktree", summary: "Make a home of a linked Git worktree all the same." },
  ],
  details: [
    "Without DIR the working directory becomes the home. What is there already stays as it is, so " +
    "that a second run changes nothing.",
    "The guard acts at the root of a Git checkout, or where the marker .fm-secondmate-home names " +
    "a home. A linked worktree has neither on purpose: tasks run there, and their agent could not " +
    "repair supervision.",
  ],
  startsPrograms: false,
  run: init,
};

/** Name of the marker that makes a folder a home outside a checkout. */
const MARKER_NAME = ".fm-secondmate-home";

/** What the marker says here; any word will do for the rule. */
const MARKER_TEXT = "standalone\n";

const AGENTS_TEXT = `# Home of a supervised agent

This folder is a turnguard home. While a task is recorded here, a turn that would end without a live
watcher is blocked, so that nobody stops listening while work is still running.

- Before you start work in the background: \`turnguard task add ID --note "what runs"\`
- When its result is in and used: \`turnguard task done ID\`
- What is recorded: \`turnguard task list\`; how this home stands: \`turnguard status\`
- To be watched: run \`turnguard arm\` as a background task of your harness, never with \`&\`
- Why a turn was or would be blocked: \`turnguard explain stop\`

The files in \`state/\` belong to these commands. Do not edit them.
`;

/** One part of a home, and whether this run made it. */
export interface HomePart {
  readonly name: string;
  readonly outcome: "made" | "was there";
}

/** Scripts of a home that starts its sessions itself, and takes their lock then. */
const SESSION_STARTS = ["fm-lock.sh", "fm-session-start.sh"] as const;

const OWN_HOME_TEXT =
  "Sessions of this home have no start of their own: Claude's auto-arm may take an\n" +
  "absent session lock (state/.lock) for the first session that ends a turn here.\n";

/** What came of making a home. */
export type HomeMaking =
  | { readonly kind: "ready"; readonly home: Home; readonly parts: readonly HomePart[] }
  | {
    readonly kind: "refused";
    readonly wrong: string;
    /** Parts that were made before it stopped. */
    readonly parts: readonly HomePart[];
    readonly todo: string;
  };

/**
 * Makes `root`, an absolute path, a home that the guard acts in.
 *
 * Nothing that exists is changed. Never throws for what lies in the way: that is `refused`.
 */
export function makeHome(root: string, worktrees: "refused" | "allowed"): HomeMaking {
  const parts: HomePart[] = [];
  const refuse = (wrong: string, todo: string): HomeMaking => ({
    kind: "refused",
    wrong,
    parts,
    todo,
  });
  const home = homeAt(root);
  const checkout = enclosingCheckout(root);
  const marked = isGenuineMarker(observeScope(home).marker);
  if (checkout?.layout === "linked-worktree" && worktrees === "refused" && !marked) {
    return refuse(
      `${checkout.path} is a linked Git worktree, and those are exempt on purpose: the agent of ` +
        "a task there could not repair supervision",
      "choose another folder, or insist with --worktree",
    );
  }
  try {
    parts.push(makeFolder(root, "the folder"));
    parts.push(makeFolder(`${root}/state`, "state/", 0o700));
    parts.push(makeFolder(`${root}/bin`, "bin/"));
    if (!SESSION_STARTS.some((script) => targetKind(`${root}/bin/${script}`) !== "absent")) {
      const own = `state/${OWN_HOME_NAME}`;
      parts.push(makeFile(`${root}/${own}`, own, OWN_HOME_TEXT));
    }
    parts.push(makeFile(`${root}/AGENTS.md`, "AGENTS.md", AGENTS_TEXT));
    if (marked || gitLayout(root) !== "primary") {
      parts.push(makeFile(`${root}/${MARKER_NAME}`, MARKER_NAME, MARKER_TEXT));
    }
  } catch (error) {
    return refuse(errorMessage(error), "make way for it and run this again");
  }
  const scope = judgeScope(observeScope(home));
  if (scope.kind === "in") return { kind: "ready", home, parts };
  return refuse(
    `the guard would still not act in ${root}: ${scope.because}`,
    `look at what stands there, ${MARKER_NAME} above all, and run this again`,
  );
}

/** The home at `root` itself, whatever the environment says about others. */
function homeAt(root: string): Home {
  return findHome({
    environment: environmentOf({}),
    root,
    startedAs: "",
    workingDirectory: () => root,
    lookUpwards: false,
  });
}

interface Checkout {
  readonly path: string;
  readonly layout: "primary" | "linked-worktree";
}

/** The checkout that `path` is the root of or lies in. */
function enclosingCheckout(path: string): Checkout | undefined {
  const layout = gitLayout(path);
  if (layout !== "none") return { path, layout };
  const above = dirname(path);
  return above === path ? undefined : enclosingCheckout(above);
}

function makeFolder(path: string, name: string, mode = 0o777): HomePart {
  if (targetKind(path) === "directory") return { name, outcome: "was there" };
  if (ownKind(path) !== "absent") throw new Error(`${path} is there and is no folder`);
  // Folders above may be missing too; they are ordinary ones.
  Deno.mkdirSync(dirname(path), { recursive: true });
  Deno.mkdirSync(path, { mode });
  return { name, outcome: "made" };
}

function makeFile(path: string, name: string, text: string): HomePart {
  if (targetKind(path) === "file") return { name, outcome: "was there" };
  if (ownKind(path) !== "absent") throw new Error(`${path} is there and is no file`);
  const made = createFile(path, `${path}.tmp.${randomName()}`, text);
  if (made === "exists") throw new Error(`${path} has come up in this very moment`);
  return { name, outcome: "made" };
}

async function init(call: Call): Promise<ExitStatus> {
  const workingDirectory = logicalWorkingDirectory(call.environment);
  const root = resolve(workingDirectory, call.operands[0] ?? ".");
  const making = makeHome(root, hasFlag(call, "worktree") ? "allowed" : "refused");
  if (making.kind === "refused") {
    const made = making.parts.filter((part) => part.outcome === "made").map((part) => part.name);
    return await complain({
      mode: "init",
      wrong: making.wrong,
      untouched: made.length === 0
        ? "nothing was changed"
        : `only this was made: ${made.join(", ")}`,
      todo: making.todo,
    });
  }
  const style = screenStyle(call.environment);
  await say([
    ...labelled("home ready: ", printable(root)),
    ...making.parts.map(({ name, outcome }) =>
      `  ${outcome === "made" ? style.good("made     ") : style.quiet("was there")}  ${name}`
    ),
    ...hints(root, call).flatMap((hint) => labelled("hint: ", printable(hint))),
    "next:",
    ...nextCommands(root, root === workingDirectory),
  ]);
  return EXIT.ok;
}

function nextCommands(root: string, standsThere: boolean): readonly string[] {
  const enter = standsThere ? [] : [`  cd ${printable(pasteable(root))}`];
  return [
    ...enter,
    ...REGISTRATIONS.map(({ harness }) => command(`install ${harness}`, "register the hooks")),
    command("task add ID", "record work in flight"),
    command("explain stop", "see what a turn's end would get"),
    command("arm", "keep the home watched"),
  ];
}

function command(words: string, what: string): string {
  return `  turnguard ${words.padEnd(16)}  ${what}`;
}

function hints(root: string, call: Call): readonly string[] {
  const checkout = enclosingCheckout(root);
  const state = `${root}/state`;
  const overrides = ["FM_HOME", "FM_ROOT_OVERRIDE", "FM_STATE_OVERRIDE"]
    .filter((name) => call.environment.get(name) !== undefined);
  return [
    ...(checkout === undefined || isIgnored(checkout.path, state) ? [] : [
      `Git is not told to ignore state/: add the line /${relative(checkout.path, state)}/ to ` +
      `${checkout.path}/.gitignore`,
    ]),
    ...overrides.map((name) => `${name} is set here; commands that inherit it use that home`),
  ];
}

/**
 * Whether an ignore file of the checkout names `folder`, as far as that can be told from the plain
 * spellings. Other patterns may cover it too; the answer only decides about a hint.
 */
function isIgnored(checkout: string, folder: string): boolean {
  const path = relative(checkout, folder);
  const spellings = new Set(
    [path, `/${path}`, "state", "**/state", "*", "/*"].flatMap((
      name,
    ) => [name, `${name}/`, `${name}/*`, `${name}/**`]),
  );
  const files = [
    ...ignoreFilesBetween(checkout, dirname(folder)),
    `${gitDirectory(checkout)}/info/exclude`,
  ];
  return readLines(`${folder}/.gitignore`).includes("*") ||
    files.some((file) => readLines(file).some((line) => spellings.has(line)));
}

/** The ignore file of the checkout, and of the home where that lies deeper. */
function ignoreFilesBetween(checkout: string, root: string): readonly string[] {
  return [...new Set([checkout, root])].map((folder) => `${folder}/.gitignore`);
}

/** The common Git directory of a checkout, where `info/exclude` lies. */
function gitDirectory(checkout: string): string {
  const entry = `${checkout}/.git`;
  const file = readCapture(entry);
  if (file.kind !== "text" || !file.text.startsWith("gitdir: ")) return entry;
  const directory = resolve(checkout, file.text.slice("gitdir: ".length));
  const common = readCapture(`${directory}/commondir`);
  return common.kind === "text" ? resolve(directory, common.text) : directory;
}

function readLines(path: string): readonly string[] {
  const file = readText(path);
  return file.kind === "text" ? file.text.split("\n").map((line) => line.trimEnd()) : [];
}
