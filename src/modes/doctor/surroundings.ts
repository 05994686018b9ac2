/** Checks of what surrounds a home: where it is mounted, where this stands, whose pids are seen. */

import type { WatcherFact } from "../../decide/facts.ts";
import { judgeFreshness } from "../../decide/freshness.ts";
import { flatGrace } from "../../decide/grace.ts";
import { runProgram } from "../../platform/program.ts";
import { type Check, ok, undetermined, wrong } from "./check.ts";

/** File systems of other machines: locks and change notices may not work there. */
const REMOTE = /^(?:nfs\d?|cifs|smb\w*|9p|afs|ceph|glusterfs|lustre|fuse\.(?:sshfs|rclone|s3fs))$/;

/** Whether the working directory is there; a harness that starts a hook in it could not. */
export function checkWorkingDirectory(): Check {
  const id = "working-folder";
  try {
    return ok(id, Deno.cwd());
  } catch {
    return wrong(
      id,
      "the working directory was deleted: programs that need it cannot start",
      "change to another folder; registered hooks change to / by themselves",
    );
  }
}

/** Whether the state directory is on this machine. */
export async function checkMount(state: string): Promise<Check> {
  const id = "state-mount";
  const table = await runProgram("cat", ["/proc/self/mounts"]);
  if (table.kind !== "answered" || !table.success) return ok(id, "no mount table here to look at");
  const type = mountTypeOf(state, new TextDecoder().decode(table.stdout));
  if (type === undefined || !REMOTE.test(type)) {
    return ok(id, `on ${type ?? "an unnamed"} file system`);
  }
  return wrong(
    id,
    `${state} is on ${type}: locks and notices of changes do not work there`,
    "keep the home on a file system of this machine",
  );
}

/** Type of the file system that a path is on: the longest mount point that it lies below. */
export function mountTypeOf(path: string, mounts: string): string | undefined {
  let best: { readonly length: number; readonly type: string } | undefined;
  for (const line of mounts.split("\n")) {
    const [, escaped, type] = line.split(" ");
    if (escaped === undefined || type === undefined) continue;
    // Blanks and the like stand there as octal numbers.
    const point = escaped.replaceAll(
      /\\([0-7]{3})/g,
      (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)),
    );
    const isAbove = point === "/" || path === point || path.startsWith(`${point}/`);
    if (isAbove && point.length >= (best?.length ?? 0)) best = { length: point.length, type };
  }
  return best?.type;
}

/** Whether a watcher beats whose process cannot be seen: it may be in another container. */
export function checkPidNamespace(fact: WatcherFact): Check {
  const id = "pid-namespace";
  const beats = judgeFreshness(fact.beacon, flatGrace(fact.grace).value).kind === "fresh";
  const isGone = fact.holder.kind === "recorded" && fact.holder.liveness === "dead";
  if (!beats || !isGone) return ok(id, "what the lock names can be looked for here");
  return undetermined(
    id,
    "the watcher beats, but its process is not to be seen: it may be in another container",
    "run hooks and watchers in the same container, or wait until the beat is stale",
  );
}
