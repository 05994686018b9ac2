/** Checks of the executable itself: its build, its file, its name, and what its start needs. */

import { basename, dirname, isAbsolute } from "@std/path";
import { type BuildInfo, buildInfo } from "../../build_info.ts";
import type { Environment } from "../../platform/environment.ts";
import { pasteable } from "../person_output.ts";
import { type Check, ok, undetermined, wrong } from "./check.ts";

/** What is known about the running program. */
export interface ExecutableFacts {
  readonly build: BuildInfo;
  /** Whether it is one compiled executable, not a script in somebody else's runtime. */
  readonly compiled: boolean;
  /** Absolute path of its file. */
  readonly path: string;
  /** Permission bits of the file; `undefined` when they cannot be read. */
  readonly mode: number | undefined;
}

/** Observes the running program. */
export function observeExecutable(): ExecutableFacts {
  const path = Deno.execPath();
  return { build: buildInfo(), compiled: Deno.build.standalone, path, mode: modeOf(path) };
}

function modeOf(path: string): number | undefined {
  try {
    return Deno.statSync(path).mode ?? undefined;
  } catch {
    return undefined;
  }
}

/** All checks of the executable. */
export function checkExecutable(facts: ExecutableFacts, environment: Environment): Check[] {
  return [
    checkBuild(facts),
    checkFile(facts),
    checkName(facts.compiled ? facts.path : "turnguard"),
    checkTemporaryFolder(environment.get("TMPDIR")),
  ];
}

function checkBuild({ build, compiled }: ExecutableFacts): Check {
  const what = `turnguard ${build.version}, Deno ${build.deno}, ${build.target}`;
  if (compiled) return ok("build", `${what}, one compiled executable`);
  return undetermined(
    "build",
    `${what}, run from its sources: this says little about an installed executable`,
    "build it with: deno task build",
  );
}

/** A harness may run its hooks as another user, who then has to read the file to start it. */
function checkFile({ path, mode }: ExecutableFacts): Check {
  if (mode === undefined) {
    return wrong(
      "executable",
      `${path} cannot be looked at: it was moved or replaced while it ran`,
      "install it again and register its new path",
    );
  }
  // It reads its own file when it starts, so the bit to execute alone is not enough.
  if ((mode & 0o555) === 0o555) return ok("executable", path);
  return wrong(
    "executable",
    `${path} is not readable and executable for everybody`,
    `chmod a+rx ${pasteable(path)}`,
  );
}

/** Words in a program's name by which other tools take a process for a harness. */
const HARNESS_WORDS = ["claude", "codex", "opencode", "grok", "kimi", "cursor"] as const;

/** Whether process lists show the executable under a name that looks like a harness. */
export function checkName(path: string): Check {
  const name = basename(path).toLowerCase();
  const word = HARNESS_WORDS.find((candidate) => name.includes(candidate));
  if (word !== undefined) {
    return wrong(
      "name",
      `the file name contains "${word}": other tools take its processes for that harness`,
      "rename the executable to turnguard and register it again",
    );
  }
  if (dirname(path).split("/").includes("pi")) {
    return wrong(
      "name",
      'a folder in its path is called "pi": other tools take its processes for that harness',
      "install it elsewhere and register it again",
    );
  }
  return ok("name", `its name (${basename(path)}) looks like no harness in process lists`);
}

/** The runtime makes a path of `TMPDIR` before any of our code runs. */
export function checkTemporaryFolder(folder: string | undefined): Check {
  if (folder === undefined) return ok("temporary-folder", "TMPDIR is not set");
  if (isAbsolute(folder)) return ok("temporary-folder", `TMPDIR is absolute: ${folder}`);
  return wrong(
    "temporary-folder",
    `TMPDIR is set to "${folder}", a relative path: the executable does not start with it`,
    "set TMPDIR to an absolute path, or unset it",
  );
}
