/** The home of a watched session, when it is a primary that is parked on purpose. */

import { judgeDaemon } from "../../decide/away_daemon.ts";
import { judgeHolder } from "../../decide/holder.ts";
import { judgeNeed } from "../../decide/need.ts";
import { judgeScope } from "../../decide/scope.ts";
import { judgeWatcher, provenWatcher } from "../../decide/watcher_health.ts";
import { daemonLockPath, observeDaemon } from "../../observe/daemon.ts";
import { findHome, hasHomeShape, type Home } from "../../observe/home.ts";
import { observeHolder } from "../../observe/holder.ts";
import { observeNeed } from "../../observe/need.ts";
import { observeScope } from "../../observe/scope.ts";
import { graceVariables } from "../../observe/turn_end.ts";
import { observeWatcher } from "../../observe/watcher.ts";
import type { Environment } from "../../platform/environment.ts";
import { readCapture } from "../../platform/file_text.ts";
import { systemProcesses } from "../../platform/processes.ts";

/** The home that the environment names, or else the session's working directory, if it is one. */
function homeOf(environment: Environment, cwd: string | null): Home | undefined {
  const named = environment.get("FM_HOME");
  const root = environment.get("FM_ROOT_OVERRIDE") ?? named ?? cwd ?? undefined;
  if (root === undefined || (named === undefined && !hasHomeShape(root))) return undefined;
  return findHome({
    environment,
    root,
    startedAs: "",
    workingDirectory: () => root,
    lookUpwards: false,
  });
}

/**
 * Whether a session is parked under live supervision, judged as the turn-end guard judges it.
 *
 * A primary that has ended its turn under a live watcher does its duty without any tool call.
 */
export async function isSupervised(
  environment: Environment,
  cwd: string | null,
): Promise<boolean> {
  const home = homeOf(environment, cwd);
  if (home === undefined) return false;
  if (judgeScope(observeScope(home)).kind === "out") return false;
  if (judgeNeed(observeNeed(home.state)).kind !== "needed") return false;
  const processes = systemProcesses(environment);
  const grace = graceVariables(environment);
  if (judgeWatcher(await observeWatcher(home, grace, processes)).kind === "healthy") return true;
  return judgeDaemon(await observeDaemon(home.state, grace, processes)).kind === "owns";
}

/** The processes that supervise that home: ending an idle session must not end them by itself. */
export async function supervisorPids(
  environment: Environment,
  cwd: string | null,
): Promise<readonly number[]> {
  const home = homeOf(environment, cwd);
  if (home === undefined) return [];
  const processes = systemProcesses(environment);
  const watcher = provenWatcher(
    await observeWatcher(home, graceVariables(environment), processes),
  );
  const lock = daemonLockPath(home.state);
  const recorded = readCapture(`${lock}/pid-identity`);
  const daemon = judgeHolder(await observeHolder(lock, processes), recorded);
  return [watcher, daemon.kind === "proven" ? daemon.pid : undefined]
    .filter((pid) => pid !== undefined);
}
