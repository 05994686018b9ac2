/** Stopping the watcher of a home, and clearing a lock whose process is another one by now. */

import { publishDowntime } from "../../act/recovery.ts";
import type { WatcherFact } from "../../decide/facts.ts";
import { judgeHolder } from "../../decide/holder.ts";
import type { Home } from "../../observe/home.ts";
import { observeWatcher, WATCH_LOCK_NAME } from "../../observe/watcher.ts";
import type { Pid } from "../../platform/pid.ts";
import type { Processes } from "../../platform/processes.ts";
import { removeLockAt, tryLock } from "../../state/lock.ts";
import { isProvenHolder, retireHolder } from "../takeover.ts";

/** What a stop came to. */
export type StopOutcome =
  /** Nobody watches this home; a lock that proved to be abandoned is gone. */
  | { readonly kind: "none-running" }
  | { readonly kind: "stopped"; readonly pid: Pid }
  /** It was asked to end and is still there; it is not killed. */
  | { readonly kind: "did-not-stop"; readonly pid: Pid }
  /** An abandoned lock stays, since that supervision was down could not be recorded. */
  | { readonly kind: "not-recorded" };

/** What a stop needs. */
export interface StopSetup {
  readonly home: Home;
  readonly look: () => Processes;
}

/** Seconds that recording downtime may wait for its lock. */
const RECORD_LIMIT_MS = 2_000;

/** Stops the watcher. Only a process that is proven to be this home's watcher is ever signalled. */
export async function stopWatcher(setup: StopSetup): Promise<StopOutcome> {
  const fact = await observe(setup);
  const { holder } = fact;
  if (holder.kind !== "recorded" || holder.liveness !== "alive") return { kind: "none-running" };
  const { pid } = holder;
  if (await isProvenHolder(setup, pid)) {
    return await retireHolder(setup, pid)
      ? { kind: "stopped", pid }
      : { kind: "did-not-stop", pid };
  }
  return await clearAbandoned(setup, pid, fact.identity);
}

/** Proven twice, the second time under the steal lock: nobody else may be taking it at that moment. */
async function clearAbandoned(
  setup: StopSetup,
  pid: Pid,
  identity: WatcherFact["identity"],
): Promise<StopOutcome> {
  const path = `${setup.home.state}/${WATCH_LOCK_NAME}`;
  if (!await isAbandoned(setup, await observe(setup), pid)) return { kind: "none-running" };
  const steal = tryLock(`${path}.steal`);
  if (steal.kind === "refused") return { kind: "none-running" };
  using _steal = steal.lock;
  const again = await observe(setup);
  const same = again.identity.kind === "text" && identity.kind === "text" &&
    again.identity.text === identity.text;
  if (!same || !await isAbandoned(setup, again, pid)) return { kind: "none-running" };
  if (!await publishDowntime(setup.home.state, RECORD_LIMIT_MS)) return { kind: "not-recorded" };
  removeLockAt(path);
  return { kind: "none-running" };
}

/** Whether the lock is this home's, but the process that it names is certainly not its watcher. */
async function isAbandoned(
  { look }: StopSetup,
  fact: WatcherFact,
  pid: Pid,
): Promise<boolean> {
  const ours = fact.home.kind === "text" && fact.home.text === fact.expectedHome &&
    fact.path.kind === "text" && fact.path.text === fact.expectedPath &&
    fact.identity.kind === "text" && fact.identity.text !== "";
  if (!ours || fact.holder.kind !== "recorded" || fact.holder.pid !== pid) return false;
  const holder = judgeHolder(fact.holder, fact.identity);
  if (holder.kind === "absent") return holder.because === "pid-reused";
  return holder.kind === "unknown" && await hasNoCommandLine(look(), pid);
}

/**
 * Whether a process can be read and has no command line, as one that has ended and was not collected.
 * Every recorded identity has one.
 */
async function hasNoCommandLine(processes: Processes, pid: Pid): Promise<boolean> {
  const info = await processes.info(pid);
  return info !== undefined && processes.method !== "ps" && info.args === "" && info.argv0 === "";
}

async function observe({ home, look }: StopSetup): Promise<WatcherFact> {
  // Beats play no part in this, so neither do the variables of their grace.
  return await observeWatcher(home, { FM_GUARD_GRACE: undefined, FM_POLL: undefined }, look());
}
