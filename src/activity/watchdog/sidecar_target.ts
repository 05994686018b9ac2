/** A process that runs already, as a target. */

import { parsePid, type Pid } from "../../platform/pid.ts";
import { activityFolders } from "../activity_paths.ts";
import type { ProcessChain } from "../process_chain.ts";
import { readSafely } from "../safe_file.ts";
import { isOwnFolder } from "../safe_folder.ts";
import type { Environment } from "../../platform/environment.ts";
import { fieldsOf, parseJson } from "../../decide/activity/fields.ts";
import { ACTIVITY_NAME } from "../activity_paths.ts";
import { processTable } from "./process_table.ts";
import type { Target, TargetState } from "./target.ts";

/** A target that can be watched, or why not. */
export type FoundTarget =
  | { readonly kind: "target"; readonly target: Target; readonly hasTerminal: boolean }
  | { readonly kind: "refused"; readonly because: string };

/** Looks a process up by its pid, or a group by its leader's. */
export async function sidecarTarget(
  text: string,
  isGroup: boolean,
  uid: number,
  chain: ProcessChain,
): Promise<FoundTarget> {
  const pid = parsePid(text);
  if (pid === undefined || pid <= 1) return { kind: "refused", because: "that is no process id" };
  const link = await chain.link(pid);
  if (link === undefined || link.ended) {
    return { kind: "refused", because: "there is no such process" };
  }
  if (ownerOf(pid, uid) !== uid) {
    return { kind: "refused", because: "it belongs to another user" };
  }
  const table = await processTable();
  const group = table.find((row) => row.pid === pid)?.group;
  const own = table.find((row) => row.pid === Deno.pid)?.group;
  if (isGroup && group !== pid) return { kind: "refused", because: "there is no such group" };
  // A group that this process is in too is never signalled as one.
  const mayGroup = isGroup && group !== own;
  return {
    kind: "target",
    hasTerminal: link.hasTerminal,
    target: {
      mode: "sidecar",
      pid,
      group: mayGroup ? pid : undefined,
      identity: link.identity,
      ended: new Promise<void>(() => {}),
      look: () => look(pid, link.identity, chain),
    },
  };
}

async function look(pid: Pid, identity: string, chain: ProcessChain): Promise<TargetState> {
  const link = await chain.link(pid);
  if (link !== undefined) return link.identity === identity && !link.ended ? "here" : "gone";
  try {
    Deno.kill(pid, 0);
    return "unknown";
  } catch (error) {
    return error instanceof Deno.errors.NotFound ? "gone" : "unknown";
  }
}

function ownerOf(pid: Pid, fallback: number): number | null {
  try {
    return Deno.lstatSync(`/proc/${pid}`).uid;
  } catch {
    // Without such folders the system itself refuses signals to others.
    return fallback;
  }
}

/** The newest activity file whose session runs in that very process. */
export function fileOfProcess(
  { pid, identity }: Pick<Target, "pid" | "identity">,
  environment: Environment,
  uid: number,
): string | undefined {
  const found = activityFolders(environment, uid)
    .filter(({ file }) => isOwnFolder(file, uid))
    .flatMap(({ file }) => filesIn(file))
    .flatMap((path) => {
      const content = readSafely(path, uid);
      if (content.kind !== "text") return [];
      const fields = fieldsOf(parseJson(content.text));
      const isIts = fields["pid"] === pid && fields["pid_identity"] === identity;
      return isIts ? [{ path, time: content.modifiedMs }] : [];
    });
  return found.toSorted((one, other) => other.time - one.time)[0]?.path;
}

function filesIn(folder: string): readonly string[] {
  return Array.from(Deno.readDirSync(folder), ({ name }) => name)
    .filter((name) => ACTIVITY_NAME.test(name)).map((name) => `${folder}/${name}`);
}
