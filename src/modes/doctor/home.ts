/** Checks of the home: whether one was found, and whether the guard acts in it. */

import { judgeScope, type Scope } from "../../decide/scope.ts";
import type { Home } from "../../observe/home.ts";
import { observeScope } from "../../observe/scope.ts";
import { targetKind } from "../../platform/path_kind.ts";
import { type Check, ok, undetermined, wrong } from "./check.ts";

/** The checks of a home, or the one that says that there is none to check. */
export function checkHome(home: Home): Check[] {
  if (!isThere(home)) return [checkNone(home)];
  const found = ok("home", `${home.home} (found by: ${home.foundBy})`);
  return [found, checkScope(judgeScope(observeScope(home)), home)];
}

/** Whether there is anything to check; `FM_HOME` may name a home that has no shape of a root. */
export function isThere(home: Home): boolean {
  return home.foundBy !== "no home was found" || targetKind(home.state) === "directory";
}

function checkNone(home: Home): Check {
  return undetermined(
    "home",
    `no home was found from ${home.root}, so none was checked`,
    "stand in a home, name one with --root DIR, or make one with: turnguard init",
  );
}

/** Whether the guard acts in the home; a task worktree is left alone on purpose. */
export function checkScope(scope: Scope, home: Pick<Home, "root" | "state">): Check {
  if (scope.kind === "in") return ok("scope", `the guard acts here (${scope.because})`);
  switch (scope.because) {
    case "linked worktree":
      return ok("scope", "a linked Git worktree: the guard stays out of it on purpose");
    case "not a checkout root":
      return outOfScope(
        `${home.root} is neither the root of a Git checkout nor marked as a home`,
      );
    case "no AGENTS.md":
      return outOfScope(`there is no file ${home.root}/AGENTS.md`);
    case "no bin/":
      return outOfScope(`there is no folder ${home.root}/bin`);
    case "no state directory":
      return outOfScope(`there is no folder ${home.state}`);
  }
}

function outOfScope(why: string): Check {
  return wrong(
    "scope",
    `the guard does not act here: ${why}`,
    "make what is missing: turnguard init",
  );
}
