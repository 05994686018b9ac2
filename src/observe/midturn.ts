/** What shows that a Claude turn is the one that a wake was handed to. */

import type { SessionLineFact } from "../decide/extension_ownership.ts";
import type { MidturnFact } from "../decide/pull_warning.ts";
import { liveness } from "../platform/liveness.ts";
import { targetKind } from "../platform/path_kind.ts";
import { parsePid } from "../platform/pid.ts";
import { LEDGER_NAME } from "../state/claude_ledger.ts";
import { alarmExists, noticeExists } from "../state/failure_episode.ts";
import { readRecoveryMarker } from "../state/recovery_marker.ts";
import { BEACON_NAME } from "./beacon.ts";
import { observeLedgerEntry } from "./claim.ts";
import { sessionLockLine } from "./session.ts";

/** Observes the proof of a handling turn. */
export function observeMidturn(state: string): MidturnFact {
  return {
    failing: noticeExists(state) || alarmExists(state),
    entry: observeLedgerEntry(state),
    session: observeSessionLine(state),
    recovery: readRecoveryMarker(state),
    ledgerSecond: modifiedSecond(`${state}/${LEDGER_NAME}`),
    beaconSecond: modifiedSecond(`${state}/${BEACON_NAME}`),
  };
}

/** The process that line 1 of the session lock names; further lines are not looked at. */
export function observeSessionLine(state: string): SessionLineFact {
  const line = sessionLockLine(state);
  const pid = parsePid(line);
  return { line, liveness: pid === undefined ? "not-a-pid" : liveness(pid) };
}

/**
 * Second in which `path` itself was last changed; a dangling link is not there.
 *
 * Two ages would be taken at two moments, and a second that ends in between would reverse them.
 */
function modifiedSecond(path: string): number | undefined {
  if (targetKind(path) === "absent") return undefined;
  try {
    const modified = Deno.lstatSync(path).mtime;
    return modified === null ? undefined : Math.floor(modified.getTime() / 1000);
  } catch {
    return undefined;
  }
}
