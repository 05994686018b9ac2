/** Which harness this process works for: used for wording and supervision model, never for verdicts. */

import { basename } from "@std/path";
import type { Environment } from "../platform/environment.ts";
import type { Pid } from "../platform/pid.ts";
import type { ProcessInfo } from "../platform/process_info.ts";
import { harnessByEnvironment, piName } from "./environment_marks.ts";
import type { HarnessName } from "./names.ts";
import { recogniseHarness } from "./recognise.ts";

/** Reads ancestors, nearest first. */
export interface Ancestors {
  /** Parent of this process. */
  readonly nearest: Pid | undefined;
  info(pid: Pid): Promise<ProcessInfo | undefined>;
}

/** Ancestors that are looked at. */
const HOP_LIMIT = 8;

/** The harness by environment markers, then by process ancestry. */
export async function detectHarness(
  environment: Environment,
  ancestors: Ancestors,
): Promise<HarnessName> {
  const marked = harnessByEnvironment(environment);
  if (marked !== undefined) return marked;
  if (environment.get("FM_OMP_HARNESS") === "omp") {
    const omp = await nearest(ancestors, (candidate) => basename(candidate.command) === "omp");
    if (omp !== undefined) return "omp";
    const without = withoutVariable(environment, "FM_OMP_HARNESS");
    return await detectHarness(without, ancestors);
  }
  const ancestor = await nearest(ancestors, harnessOf);
  if (environment.get("CLAUDECODE") !== "1") return ancestor ?? "unknown";
  // Both markers of a Claude and a Pi session are set: the one that is nearer started us.
  return ancestor === "pi" || ancestor === "pi-signed" ? piName(environment) : "claude";
}

/** The first answer that `judge` gives for an ancestor, nearest first. */
async function nearest<T>(
  ancestors: Ancestors,
  judge: (candidate: ProcessInfo) => T | undefined | false,
): Promise<T | undefined> {
  let pid = ancestors.nearest;
  for (let hop = 0; pid !== undefined && pid > 1 && hop < HOP_LIMIT; hop++) {
    const candidate = await ancestors.info(pid);
    if (candidate === undefined) return undefined;
    const answer = judge(candidate);
    if (answer !== undefined && answer !== false) return answer;
    pid = candidate.parent;
  }
  return undefined;
}

function withoutVariable(environment: Environment, name: string): Environment {
  return { get: (asked) => asked === name ? undefined : environment.get(asked) };
}

/** Program names that say which harness an ancestor is, beyond those that may own a lock. */
const OTHER_NAMES: ReadonlyMap<string, HarnessName> = new Map([
  ["rovo", "rovo"],
  ["muse", "muse"],
  ["gemini", "gemini"],
]);

function harnessOf(process: ProcessInfo): HarnessName | undefined {
  const base = basename(process.command);
  const known = recogniseHarness(process);
  if (known !== undefined) return known.name === "pi-signed" ? "pi" : known.name;
  if (base.startsWith("muse-bin-")) return "muse";
  if (/^(?:node|python)/.test(base) && / pi |\/pi$/.test(process.args)) return "pi";
  return OTHER_NAMES.get(base);
}
