/** Room for a new daemon where the lock names a process that is no daemon any more. */

import { daemonLockPath } from "../../observe/daemon.ts";
import type { Processes } from "../../platform/processes.ts";
import { removeLockAt, tryLock } from "../../state/lock.ts";
import { findDaemon } from "./find_daemon.ts";

/**
 * Removes the daemon's lock when its pid is another process by now, or has ended and is still listed.
 * The lock itself is never taken from a pid that answers; every other state is left to whoever takes it.
 */
export async function makeWay(state: string, look: () => Processes): Promise<void> {
  if (!isLeftBehind(await findDaemon(state, look()))) return;
  const path = daemonLockPath(state);
  // Nobody takes the lock while somebody holds this one.
  const attempt = tryLock(`${path}.steal`);
  if (attempt.kind === "refused") return;
  using _steal = attempt.lock;
  // A new daemon may have come in between.
  if (isLeftBehind(await findDaemon(state, look()))) removeLockAt(path);
}

function isLeftBehind({ kind }: Awaited<ReturnType<typeof findDaemon>>): boolean {
  return kind === "reused" || kind === "ended";
}
