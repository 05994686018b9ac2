/** The auto-arm's ledger, and everything that its claim is compared with. */

import type { ClaimFact } from "../decide/claim.ts";
import { ageSeconds } from "../platform/clock.ts";
import { readText } from "../platform/file_text.ts";
import { liveness } from "../platform/liveness.ts";
import { parsePid, type Pid } from "../platform/pid.ts";
import type { Processes } from "../platform/processes.ts";
import {
  glanceLedger,
  LEDGER_NAME,
  type LedgerEntry,
  parseLedger,
} from "../state/claude_ledger.ts";
import { descendsFrom } from "./ancestry.ts";
import { observeBeacon } from "./beacon.ts";
import { recordedSessionId, sessionLockHolder } from "./session.ts";

/** Text of the ledger; empty when there is none that can be read. */
export function ledgerText(state: string): string {
  const content = readText(`${state}/${LEDGER_NAME}`);
  return content.kind === "text" ? content.text : "";
}

/** The ledger's entry as claims read it. */
export function observeLedgerEntry(state: string): LedgerEntry | undefined {
  return parseLedger(ledgerText(state));
}

/** Age of the ledger in whole seconds. */
export function ledgerAge(state: string): number | undefined {
  return ageSeconds(`${state}/${LEDGER_NAME}`);
}

/** Observes the claim. Processes are looked at only for an entry that is still open. */
export async function observeClaim(state: string, processes: Processes): Promise<ClaimFact> {
  const text = ledgerText(state);
  const entry = parseLedger(text);
  const fact: ClaimFact = {
    entry,
    glance: glanceLedger(text),
    ageSeconds: ledgerAge(state),
    owner: undefined,
    descendsFromHolder: false,
    holder: undefined,
    recordedSessionId: recordedSessionId(state),
    beacon: observeBeacon(state),
  };
  const owner = entry?.outcome === "arming" ? parsePid(entry.ownerPid) : undefined;
  if (owner === undefined) return fact;
  const answer = liveness(owner);
  if (answer !== "alive") {
    return { ...fact, owner: { liveness: answer, identity: { kind: "unknown", because: answer } } };
  }
  const holder = sessionLockHolder(state);
  const descends = holder !== undefined && await descendsFrom(owner, holder, processes);
  // The holder's own identity matters only where the conversation has to stand for the descent.
  const asksHolder = holder !== undefined && !descends && entry?.ownerSessionId !== undefined;
  return {
    ...fact,
    owner: { liveness: answer, identity: await processes.identity(owner) },
    descendsFromHolder: descends,
    holder: asksHolder ? { identity: await holderIdentity(holder, processes) } : undefined,
  };
}

async function holderIdentity(
  holder: Pid,
  processes: Processes,
): Promise<Awaited<ReturnType<Processes["identity"]>>> {
  return liveness(holder) === "alive"
    ? await processes.identity(holder)
    : { kind: "unknown", because: "not alive" };
}
