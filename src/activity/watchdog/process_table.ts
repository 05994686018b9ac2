/** All processes of the machine, as far as their kinship goes. */

import type { ProcessRow } from "../../decide/watchdog/select_processes.ts";
import { runProgram } from "../../platform/program.ts";

/** Reads the table; empty when it cannot be read. */
export async function processTable(): Promise<readonly ProcessRow[]> {
  const files = statFiles();
  const listing = files.length > 0
    ? await runProgram("cat", files)
    : await runProgram("ps", ["-axo", "pid=,ppid=,pgid=,state=,lstart="], { TZ: "UTC0" });
  // Processes that end meanwhile make `cat` complain; what it could read still counts.
  if (listing.kind !== "answered") return [];
  const lines = new TextDecoder().decode(listing.stdout).split("\n");
  return lines.flatMap((line) => (files.length > 0 ? procRow(line) : psRow(line)) ?? []);
}

/** Pids of this user's processes that were started with `mark` in their environment. */
export async function markedPids(mark: string, uid: number): Promise<ReadonlySet<number>> {
  const files = ownFolders(uid).map((pid) => `/proc/${pid}/environ`);
  if (files.length === 0) return new Set();
  // Reading them all with one `cat` would not tell which is whose.
  const found = await runProgram("grep", ["-lsazxF", mark, ...files]);
  if (found.kind !== "answered") return new Set();
  const pids = new TextDecoder().decode(found.stdout).matchAll(/^\/proc\/([0-9]+)\//gm);
  return new Set(Array.from(pids, ([, pid]) => Number(pid)));
}

function statFiles(): readonly string[] {
  return folders().map((pid) => `/proc/${pid}/stat`);
}

function ownFolders(uid: number): readonly string[] {
  return folders().filter((pid) => {
    try {
      return Deno.lstatSync(`/proc/${pid}`).uid === uid;
    } catch {
      return false;
    }
  });
}

function folders(): readonly string[] {
  try {
    return Array.from(Deno.readDirSync("/proc"), ({ name }) => name)
      .filter((name) => /^[0-9]+$/.test(name));
  } catch {
    return [];
  }
}

function procRow(line: string): ProcessRow | undefined {
  const pid = /^([0-9]+) \(/.exec(line)?.[1];
  const words = line.slice(line.lastIndexOf(")") + 2).split(" ");
  const [state, parent, group] = words;
  const start = words[19];
  if (pid === undefined || start === undefined) return undefined;
  return {
    pid: Number(pid),
    parent: Number(parent),
    group: Number(group),
    start,
    ended: /^[ZX]/.test(state ?? ""),
  };
}

function psRow(line: string): ProcessRow | undefined {
  const [pid, parent, group, state, ...start] = line.trim().split(/\s+/);
  if (pid === undefined || start.length === 0) return undefined;
  return {
    pid: Number(pid),
    parent: Number(parent),
    group: Number(group),
    start: start.join("_"),
    ended: state?.startsWith("Z") ?? false,
  };
}
