/** The daemon of a home, as it is proven before anything is sent to it. */

import { namesDaemon } from "../../decide/away_daemon.ts";
import { judgeHolder } from "../../decide/holder.ts";
import { daemonLockPath } from "../../observe/daemon.ts";
import { observeHolder } from "../../observe/holder.ts";
import { readCapture } from "../../platform/file_text.ts";
import type { Pid } from "../../platform/pid.ts";
import type { Processes } from "../../platform/processes.ts";

/** What the daemon's lock tells. */
export type FoundDaemon =
  | { readonly kind: "running"; readonly pid: Pid }
  /** Nobody holds the lock, or its process is dead. */
  | { readonly kind: "none" }
  /** Its process has ended and is still listed: whoever started it has not asked for its status. */
  | { readonly kind: "ended" }
  /** The pid is alive and is certainly another process by now. */
  | { readonly kind: "reused" }
  /** Something lives there, and nothing tells what. */
  | { readonly kind: "unknown"; readonly pid: Pid };

/** Looks for the daemon of the home with the state directory `state`. */
export async function findDaemon(state: string, processes: Processes): Promise<FoundDaemon> {
  const lock = daemonLockPath(state);
  const holder = await observeHolder(lock, processes);
  if (holder.kind !== "recorded" || holder.liveness !== "alive") return { kind: "none" };
  const { pid } = holder;
  if (holder.identity.kind === "unknown" && await processes.isZombie(pid)) return { kind: "ended" };
  const identity = readCapture(`${lock}/pid-identity`);
  if (identity.kind === "unreadable") return { kind: "unknown", pid };
  if (identity.kind === "absent" || identity.text === "") {
    const info = await processes.info(pid);
    if (info === undefined) return { kind: "unknown", pid };
    return namesDaemon(info.args) ? { kind: "running", pid } : { kind: "reused" };
  }
  const proof = judgeHolder(holder, identity);
  switch (proof.kind) {
    case "proven":
      return { kind: "running", pid };
    case "unknown":
      return { kind: "unknown", pid };
    case "absent":
      return { kind: "reused" };
  }
}
