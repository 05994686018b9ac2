/** The attended alarm: the one way in which a verified, exhausted failure episode lets a turn end. */

import { type EpisodeFact, mayRaiseAlarm } from "../decide/budget.ts";
import { observeAwayMode } from "../observe/daemon.ts";
import { ledgerText } from "../observe/claim.ts";
import type { Charge } from "../state/claude_budget.ts";
import { glanceLedger } from "../state/claude_ledger.ts";
import {
  ALARM_NAME,
  alarmExists,
  createAlarm,
  noticeExists,
  removeEpisodeFiles,
} from "../state/failure_episode.ts";
import { type HeldLock, tryLock } from "../state/lock.ts";
import { liveness } from "../platform/liveness.ts";
import { parsePid } from "../platform/pid.ts";
import { storedBudget } from "./accountant.ts";
import { sharedBudgetLock } from "./episode.ts";
import {
  isLegacyClaimLive,
  type LookAgain,
  ownerLockPath,
  releaseAbandonedClaim,
} from "./legacy_claim.ts";
import { readCapture } from "../platform/file_text.ts";

/** What the check came to. */
export type TerminalOutcome =
  /** The alarm was raised; it is to be shown. */
  | "alarm"
  /** Supervision is back, or somebody else decides: the turn may end in silence. */
  | "step-aside"
  | "block";

/** What the check asks. The two questions are asked again under the locks. */
export interface TerminalRequest {
  readonly state: string;
  readonly sessionId: string;
  /** Blocks that are allowed before the alarm. */
  readonly budget: number;
  /** The count after this stop was charged. */
  readonly count: number;
  /** The charge of this stop by another process, which so decides about it; `undefined` for none. */
  readonly chargedElsewhere: Charge | undefined;
  readonly graceSeconds: number;
  readonly look: LookAgain;
  readonly isClaimOpen: () => Promise<boolean>;
  readonly isWatcherHealthy: () => Promise<boolean>;
}

/** The role that marks the owner lock while the last decision is taken. */
const ROLE = "terminal-check";

/**
 * Decides between the alarm and one more block.
 *
 * Everything is judged first without locks and again under both of them: between the two looks a
 * watcher may have come up, a claim may have been made, or another guard may have raised the alarm.
 */
export async function terminalCheck(request: TerminalRequest): Promise<TerminalOutcome> {
  const { state, budget, count, chargedElsewhere } = request;
  if (chargedElsewhere !== undefined) await waitForCharger(request, chargedElsewhere);
  const episode = observeEpisode(state);
  if (!mayRaiseAlarm(episode, count, budget)) {
    // The other delivery of this stop has shown the alarm; blocking here would take it back.
    const alarmedTwin = chargedElsewhere !== undefined && count > budget &&
      alarmedSince(state, chargedElsewhere.atMs);
    return alarmedTwin ? "step-aside" : "block";
  }
  if (await request.isClaimOpen()) return "step-aside";
  const owner = await takeOwnerLock(request);
  if (owner === "step-aside" || owner === "block") return owner;
  // A binding that is used would be folded into its use by the bundler, and never disposed.
  using _mutex = owner;
  return await underOwnerLock(request, owner);
}

/** Milliseconds between looks at the process that charged, and how many there are. */
const CHARGER_STEP_MS = 10;
const CHARGER_STEPS = 100;

/**
 * Leaves the decision to the process that charged this stop, for as long as it may still raise the
 * alarm: two deliveries that both tried would each find the other's lock, and one would block.
 */
async function waitForCharger(request: TerminalRequest, charge: Charge): Promise<void> {
  const { state, budget, count } = request;
  const pid = parsePid(String(charge.pid));
  for (let step = 0; step < CHARGER_STEPS; step++) {
    if (!mayRaiseAlarm(observeEpisode(state), count, budget)) return;
    if (pid === undefined || liveness(pid) !== "alive") return;
    await new Promise((resolve) => setTimeout(resolve, CHARGER_STEP_MS));
  }
}

/** Milliseconds by which a file's time may lie before the clock that was read earlier. */
const FILE_CLOCK_LAG_MS = 20;

/** Whether the alarm was raised after a charge; an earlier one belongs to an earlier stop. */
function alarmedSince(state: string, atMs: number): boolean {
  try {
    const { mtime } = Deno.statSync(`${state}/${ALARM_NAME}`);
    return mtime !== null && mtime.getTime() >= atMs - FILE_CLOCK_LAG_MS;
  } catch {
    return false;
  }
}

/** A live legacy claim decides for itself; an abandoned one is cleared; anything else blocks. */
async function takeOwnerLock(request: TerminalRequest): Promise<HeldLock | "step-aside" | "block"> {
  const { state, graceSeconds, look } = request;
  const first = tryLock(ownerLockPath(state));
  if (first.kind === "acquired") return first.lock;
  if (await isLegacyClaimLive(state, graceSeconds, look)) return "step-aside";
  if (!await releaseAbandonedClaim(state, graceSeconds, look)) return "block";
  const second = tryLock(ownerLockPath(state));
  return second.kind === "acquired" ? second.lock : "block";
}

async function underOwnerLock(request: TerminalRequest, mutex: HeldLock): Promise<TerminalOutcome> {
  const { state } = request;
  mutex.write("role", ROLE);
  const budgetLock = await sharedBudgetLock(state);
  if (budgetLock === undefined) return "block";
  using _budget = budgetLock;
  if (!isStillDue(request)) return "block";
  if (await request.isWatcherHealthy()) return removeEpisodeFiles(state) ? "step-aside" : "block";
  if (await request.isClaimOpen()) return "step-aside";
  return createAlarm(state) ? "alarm" : "block";
}

function isStillDue(request: TerminalRequest): boolean {
  const { state, sessionId, budget } = request;
  const stored = storedBudget(state);
  const role = readCapture(`${ownerLockPath(state)}/role`);
  return role.kind === "text" && role.text === ROLE &&
    stored !== undefined && stored.session === sessionId &&
    mayRaiseAlarm(observeEpisode(state), stored.count, budget);
}

function observeEpisode(state: string): EpisodeFact {
  return {
    away: observeAwayMode(state) !== "off",
    noticed: noticeExists(state),
    alarmed: alarmExists(state),
    outcome: glanceLedger(ledgerText(state)).outcome,
  };
}
