/** The branch grant: rows of the wake queue that another session has taken on. */

import { readText } from "../platform/file_text.ts";
import { ownKind } from "../platform/path_kind.ts";
import { parsePid } from "../platform/pid.ts";
import type { Processes } from "../platform/processes.ts";

const OWNER_HEADER = "fm-branch-eligible-owner-v1";

/**
 * Numbers of the rows that a live grant reserves; none when there is no grant, when it is malformed, or
 * when its owner is not proven to live. A doubtful grant hides no wake.
 */
export async function observeReservedRows(
  state: string,
  processes: Processes,
): Promise<ReadonlySet<number>> {
  const rows = grantedRows(`${state}/.branch-eligible-rows`);
  if (rows.size > 0 && await isOwnerAlive(`${state}/.branch-eligible-owner`, processes)) {
    return rows;
  }
  return new Set();
}

function grantedRows(path: string): ReadonlySet<number> {
  const content = readText(path);
  if (content.kind !== "text") return new Set();
  const lines = linesOf(content.text);
  const rows = new Set(lines.map(Number));
  const valid = lines.every((line) => /^[0-9]{1,15}$/.test(line)) && rows.size === lines.length;
  return valid ? rows : new Set();
}

async function isOwnerAlive(path: string, processes: Processes): Promise<boolean> {
  if (ownKind(path) !== "file") return false;
  const content = readText(path);
  if (content.kind !== "text") return false;
  const [header, pidText, identity, generation, ...rest] = linesOf(content.text);
  if (header !== OWNER_HEADER || generation === undefined || rest.length > 0) return false;
  const pid = parsePid(pidText ?? "");
  // Pid 1 is whatever a container starts first, and proves nothing.
  if (pid === undefined || pid === 1 || !/^[A-Za-z0-9._-]+$/.test(generation)) return false;
  const own = await processes.identity(pid);
  return own.kind === "known" && own.identity === identity;
}

function linesOf(text: string): readonly string[] {
  return text.replace(/\n$/, "").split("\n");
}
