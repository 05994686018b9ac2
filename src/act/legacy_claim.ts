/** Claims of builds that held the owner lock for a whole cycle, and how an abandoned one is cleared. */

import { observeBeacon } from "../observe/beacon.ts";
import { ledgerAge, ledgerText, observeLedgerEntry } from "../observe/claim.ts";
import { readCapture } from "../platform/file_text.ts";
import { liveness } from "../platform/liveness.ts";
import { ownKind } from "../platform/path_kind.ts";
import { parsePid, type Pid } from "../platform/pid.ts";
import type { IdentityReading } from "../platform/process_identity.ts";
import type { Processes } from "../platform/processes.ts";
import { LEDGER_NAME } from "../state/claude_ledger.ts";
import { removeLockAt, tryLock } from "../state/lock.ts";
import { replaceFile } from "../state/replace_file.ts";

/** Path of the owner lock: a micro-mutex of today's builds, a claim of older ones. */
export function ownerLockPath(state: string): string {
  return `${state}/.claude-autoarm.lock`;
}

/** Role by which an older build marks its claim. */
const LEGACY_ROLE = "autoarm";

/** Looks at processes afresh; a claim may die between two looks. */
export type LookAgain = () => Processes;

/** Whether an older build is supervising right now. */
export async function isLegacyClaimLive(
  state: string,
  graceSeconds: number,
  look: LookAgain,
): Promise<boolean> {
  const claim = legacyClaim(state);
  if (claim === undefined || liveness(claim.pid) !== "alive") return false;
  return !await isAbandoned(state, claim, graceSeconds, look());
}

/** Whether the owner lock carries any role: a claim of an older build, or a guard's last decision. */
export function ownerLockHasRole(state: string): boolean {
  return ownerLockFile(state, "role") !== "";
}

interface LegacyClaim {
  readonly pid: Pid;
  readonly identity: string;
}

function legacyClaim(state: string): LegacyClaim | undefined {
  if (ownKind(ownerLockPath(state)) === "absent") return undefined;
  if (ownerLockFile(state, "role") !== LEGACY_ROLE) return undefined;
  const pid = parsePid(ownerLockFile(state, "pid"));
  return pid === undefined ? undefined : { pid, identity: ownerLockFile(state, "pid-identity") };
}

function ownerLockFile(state: string, name: "pid" | "pid-identity" | "role"): string {
  const content = readCapture(`${ownerLockPath(state)}/${name}`);
  return content.kind === "text" ? content.text : "";
}

/** Abandoned: its pid is another process now, or its own ledger entry has ended or stood still. */
async function isAbandoned(
  state: string,
  claim: LegacyClaim,
  graceSeconds: number,
  processes: Processes,
): Promise<boolean> {
  if (claim.identity !== "") {
    const now = await identityOf(claim.pid, processes);
    if (now.kind === "known" && now.identity !== claim.identity) return true;
  }
  const entry = observeLedgerEntry(state);
  if (entry === undefined || entry.ownerPid !== String(claim.pid)) return false;
  if (entry.outcome !== "arming") return true;
  const beacon = observeBeacon(state);
  const beaconAge = beacon.kind === "beat" ? beacon.ageSeconds : Infinity;
  return (ledgerAge(state) ?? Infinity) >= graceSeconds && beaconAge >= graceSeconds;
}

async function identityOf(pid: Pid, processes: Processes): Promise<IdentityReading> {
  return liveness(pid) === "alive"
    ? await processes.identity(pid)
    : { kind: "unknown", because: "not alive" };
}

/** Milliseconds between looks at a legacy owner that was asked to end, and how many there are. */
const RETIREMENT_STEP_MS = 50;
const RETIREMENT_STEPS = 20;

/**
 * Clears an abandoned claim; `true` when the lock is gone afterwards.
 *
 * Proven twice, the second time under the steal lock. Only a process whose identity matches the one
 * recorded is ever signalled: the pid of an abandoned claim may belong to anybody by now.
 */
export async function releaseAbandonedClaim(
  state: string,
  graceSeconds: number,
  look: LookAgain,
): Promise<boolean> {
  const before = legacyClaim(state);
  if (before === undefined || !await isAbandoned(state, before, graceSeconds, look())) return false;
  const steal = tryLock(`${ownerLockPath(state)}.steal`);
  if (steal.kind === "refused") return false;
  using _steal = steal.lock;
  const claim = legacyClaim(state);
  if (claim === undefined || !await isAbandoned(state, claim, graceSeconds, look())) return false;
  if (!await retireOwner(claim, look())) return false;
  graftIdentity(state, claim);
  return removeLockAt(ownerLockPath(state));
}

async function retireOwner(claim: LegacyClaim, processes: Processes): Promise<boolean> {
  const now = await identityOf(claim.pid, processes);
  if (claim.identity === "" || now.kind === "unknown" || now.identity !== claim.identity) {
    return true;
  }
  try {
    Deno.kill(claim.pid, "SIGTERM");
  } catch {
    return false;
  }
  for (let step = 0; step < RETIREMENT_STEPS && liveness(claim.pid) === "alive"; step++) {
    await new Promise((resolve) => setTimeout(resolve, RETIREMENT_STEP_MS));
  }
  return true;
}

/**
 * Moves the identity from the lock that is about to go into the ledger, which needs it to judge the
 * claim. Best effort; the ledger keeps its age.
 */
function graftIdentity(state: string, claim: LegacyClaim): void {
  const entry = observeLedgerEntry(state);
  if (entry === undefined || entry.ownerPid !== String(claim.pid)) return;
  if (entry.ownerIdentity !== "" || claim.identity === "") return;
  const path = `${state}/${LEDGER_NAME}`;
  try {
    const { atime, mtime } = Deno.lstatSync(path);
    const [first = ""] = ledgerText(state).split("\n");
    replaceFile(path, `${first}\n${claim.identity}\n`);
    if (mtime !== null) Deno.utimeSync(path, atime ?? mtime, mtime);
  } catch {
    // The claim is finished either way; without the identity it is judged closed.
  }
}
