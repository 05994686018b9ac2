/** The process that a lock records, read once for whoever judges it. */

import type { HolderFact } from "../decide/facts.ts";
import { readCapture } from "../platform/file_text.ts";
import { liveness } from "../platform/liveness.ts";
import { targetKind } from "../platform/path_kind.ts";
import { parsePid } from "../platform/pid.ts";
import type { Processes } from "../platform/processes.ts";

/**
 * Observes the holder of the lock at `lock`, which is a link to an owner directory or a plain one.
 *
 * The identity is computed only for a live process, so a judged pid costs one look at most.
 */
export async function observeHolder(lock: string, processes: Processes): Promise<HolderFact> {
  const recorded = readCapture(`${lock}/pid`);
  if (recorded.kind === "unreadable") {
    return { kind: "malformed", because: `its pid file: ${recorded.because}` };
  }
  if (recorded.kind === "absent" || recorded.text === "") return noneOrUnsearchable(lock);
  const pid = parsePid(recorded.text);
  if (pid === undefined) return { kind: "malformed", because: "its pid file holds no pid" };
  const answer = liveness(pid);
  return {
    kind: "recorded",
    pid,
    liveness: answer,
    identity: answer === "alive"
      ? await processes.identity(pid)
      : { kind: "unknown", because: `the process is ${answer}` },
  };
}

/** A lock that cannot be looked into is not proof that nobody holds it. */
function noneOrUnsearchable(lock: string): HolderFact {
  return targetKind(`${lock}/pid`) === "unknown"
    ? { kind: "malformed", because: "the lock cannot be looked into" }
    : { kind: "none" };
}
