/** The home that a call means, from its `--root`, its environment and where it stands. */

import process from "node:process";
import { findHome, type Home, logicalWorkingDirectory } from "../observe/home.ts";
import { type Call, flagValue } from "./mode.ts";

/** Home of a hook: never looked for above the working directory. */
export function hookHome(call: Call): Home {
  return homeOf(call, false);
}

/** Home of a person's command: folders above the working directory count too. */
export function personHome(call: Call): Home {
  return homeOf(call, true);
}

function homeOf(call: Call, lookUpwards: boolean): Home {
  return findHome({
    environment: call.environment,
    root: flagValue(call, "root"),
    startedAs: process.argv0,
    workingDirectory: () => logicalWorkingDirectory(call.environment),
    lookUpwards,
  });
}
