/** The paths that a registration names: the home's root and the executable, links kept. */

import process from "node:process";
import { isAbsolute, normalize } from "@std/path";
import { findExecutable } from "../harness/registration/executable.ts";
import { logicalWorkingDirectory } from "../observe/home.ts";
import { personHome } from "./call_home.ts";
import { type Call, flagValue } from "./mode.ts";

/**
 * The root as it is registered: absolute, links kept, no slash at its end, since the guard compares
 * paths made from it byte for byte.
 */
export function rootOf(call: Call): string {
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

/** The executable as it is registered: what `--executable` names, else what this was started as. */
export function executableOf(call: Call): ReturnType<typeof findExecutable> {
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
