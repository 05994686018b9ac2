/** The daemon of a home, as it is proven before anything is sent to it. */

import { judgeHolder } from "../../decide/holder.ts";
import { observeHolder } from "../../observe/holder.ts";
import { readCapture } from "../../platform/file_text.ts";
import type { Pid } from "../../platform/pid.ts";
import type { Processes } from "../../platform/processes.ts";
import { DAEMON_LOCK_NAME } from "./daemon.ts";

/** What the daemon's lock tells. */
export type FoundDaemon =
  | { readonly kind: "running"; readonly pid: Pid }
  /** Nobody holds the lock, or its process is dead. */
  | { readonly kind: "none" }
  /** The pid is alive and is certainly another process by now. */
  | { readonly kind: "reused" }
  /** Something lives there, and nothing tells what. */
  | { readonly kind: "unknown"; readonly pid: Pid };

/** How the daemon appears in process lists, for locks that record no identity. */
const NAMED = /fm-supervise-daemon\.sh|turnguard\S* (?:daemon|afk|away)\b/;

/** Looks for the daemon of the home with the state directory `state`. */
export async function findDaemon(state: string, processes: Processes): Promise<FoundDaemon> {
  const lock = `${state}/${DAEMON_LOCK_NAME}`;
  const holder = await observeHolder(lock, processes);
  if (holder.kind !== "recorded" || holder.liveness !== "alive") return { kind: "none" };
  const { pid } = holder;
  const identity = readCapture(`${lock}/pid-identity`);
  if (identity.kind !== "text" || identity.text === "") {
    const info = await processes.info(pid);
    if (info === undefined) return { kind: "unknown", pid };
    return NAMED.test(info.args) ? { kind: "running", pid } : { kind: "reused" };
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
