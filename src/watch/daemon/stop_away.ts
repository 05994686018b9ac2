/** The end of away or quiet mode: the daemon first, its flag last. */

import { liveness } from "../../platform/liveness.ts";
import type { Pid } from "../../platform/pid.ts";
import type { Processes } from "../../platform/processes.ts";
import { removeAwayFlag } from "../../state/away_flag.ts";
import { findDaemon } from "./find_daemon.ts";

/** What ending the mode came to. */
export type StoppedAway =
  | { readonly kind: "off"; readonly daemon: Pid | undefined }
  /** It was asked to end and is still there, or cannot be told from another; the flag stays. */
  | { readonly kind: "did-not-stop"; readonly pid: Pid }
  | { readonly kind: "flag-stays" };

/** Looks at a daemon that is to end, and milliseconds between them: ten seconds in all. */
const LOOKS = 40;
const LOOK_STEP_MS = 250;

/** Ends the mode. Only a process that is proven to be the daemon is ever signalled. */
export async function stopAway(state: string, look: () => Processes): Promise<StoppedAway> {
  const found = await findDaemon(state, look());
  if (found.kind === "unknown") return { kind: "did-not-stop", pid: found.pid };
  if (found.kind === "running" && !await retire(state, found.pid, look)) {
    return { kind: "did-not-stop", pid: found.pid };
  }
  // The daemon's last digest is delivered only while the flag is there.
  if (!removeAwayFlag(state)) return { kind: "flag-stays" };
  return { kind: "off", daemon: found.kind === "running" ? found.pid : undefined };
}

async function retire(state: string, pid: Pid, look: () => Processes): Promise<boolean> {
  try {
    Deno.kill(pid, "SIGTERM");
  } catch {
    return liveness(pid) !== "alive";
  }
  for (let looks = 0; looks < LOOKS; looks++) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_STEP_MS));
    if (liveness(pid) !== "alive") return true;
    const now = await findDaemon(state, look());
    if (now.kind === "none" || now.kind === "ended" || now.kind === "reused") return true;
  }
  return false;
}
