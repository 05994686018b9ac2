/** Whether the process that a lock records is the very process that took it. */

import type { FileText } from "../platform/file_text.ts";
import type { Pid } from "../platform/pid.ts";
import type { HolderFact } from "./facts.ts";

/** What is known about the holder of a lock. */
export type Holder =
  | { readonly kind: "proven"; readonly pid: Pid }
  | { readonly kind: "absent"; readonly because: HolderAbsence; readonly detail: string }
  | { readonly kind: "unknown"; readonly because: "identity-unknown"; readonly detail: string };

/** Why a holder is certainly not there. */
export type HolderAbsence =
  | "unheld"
  | "malformed-pid"
  | "dead"
  | "not-ours-to-signal"
  | "identity-not-recorded"
  | "pid-reused";

/**
 * A holder is proven when its pid is alive and its identity, computed now, equals the recorded one.
 *
 * A pid alone proves nothing: after a reboot or a wrap-around it names another process.
 */
export function judgeHolder(holder: HolderFact, recorded: FileText): Holder {
  if (holder.kind === "none") return absent("unheld", "nobody holds the lock");
  if (holder.kind === "malformed") return absent("malformed-pid", holder.because);
  const { pid, liveness, identity } = holder;
  if (liveness === "dead") return absent("dead", `pid ${pid} is gone`);
  if (liveness === "foreign") {
    return absent("not-ours-to-signal", `pid ${pid} belongs to another user`);
  }
  if (recorded.kind === "unreadable") return unknown(`recorded identity: ${recorded.because}`);
  if (recorded.kind === "absent" || recorded.text === "") {
    return absent("identity-not-recorded", `pid ${pid} recorded no identity`);
  }
  if (liveness === "unknown") return unknown(`pid ${pid} does not tell whether it is alive`);
  if (identity.kind === "unknown") return unknown(`pid ${pid}: ${identity.because}`);
  if (identity.identity !== recorded.text) {
    return absent("pid-reused", `pid ${pid} is another process than the one recorded`);
  }
  return { kind: "proven", pid };
}

function absent(because: HolderAbsence, detail: string): Holder {
  return { kind: "absent", because, detail };
}

function unknown(detail: string): Holder {
  return { kind: "unknown", because: "identity-unknown", detail };
}
