/** Which harnesses are in use here, for `install all`. */

import { isAbsolute, join } from "@std/path";
import type { Environment } from "../../platform/environment.ts";
import { targetKind } from "../../platform/path_kind.ts";

/** Where a harness leaves traces. */
interface Traces {
  /** Folders below a home. */
  readonly home: readonly string[];
  /** Files and folders below the one of the user. */
  readonly user: readonly string[];
  /** Names of its program. */
  readonly programs: readonly string[];
}

const TRACES: Readonly<Record<string, Traces>> = {
  claude: { home: [".claude"], user: [".claude"], programs: ["claude"] },
  codex: { home: [".codex"], user: [".codex"], programs: ["codex"] },
  opencode: { home: [".opencode"], user: [".config/opencode"], programs: ["opencode"] },
  pi: { home: [".pi"], user: [".pi"], programs: ["pi"] },
  omp: { home: [".omp"], user: [".omp"], programs: ["omp"] },
  cursor: { home: [".cursor"], user: [".cursor"], programs: ["cursor-agent"] },
  grok: { home: [".grok"], user: [".grok"], programs: ["grok"] },
  // Its hook is the user's alone, and needs the file that Kimi makes when it is first started.
  kimi: { home: [], user: [".kimi-code/config.toml"], programs: [] },
};

/**
 * Whether a harness is in use: it has a folder in the home or in the user's folder, or its program is
 * on `PATH`.
 */
export function leavesTraces(harness: string, root: string, environment: Environment): boolean {
  const traces = TRACES[harness];
  if (traces === undefined) return false;
  const user = environment.get("HOME");
  const searchPath = environment.get("PATH")?.split(":").filter(isAbsolute) ?? [];
  return traces.home.some((name) => targetKind(join(root, name)) === "directory") ||
    (user !== undefined && isAbsolute(user) &&
      traces.user.some((name) => targetKind(join(user, name)) !== "absent")) ||
    traces.programs.some((name) =>
      searchPath.some((folder) => targetKind(join(folder, name)) === "file")
    );
}
