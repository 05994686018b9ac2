/** The guard's side of Claude's two Stop hooks: wait for the other one, charge, then allow or block. */

import type { ClaudeVariables } from "../decide/claude_settings.ts";
import {
  blockBudget,
  epochFreshSeconds,
  guardClaimGraceSeconds,
  syncWaitMs,
} from "../decide/claude_settings.ts";
import { type ClaimState, judgeClaim } from "../decide/claim.ts";
import { judgeRecovery, type Recovery, type RecoveryOwner } from "../decide/recovery.ts";
import { judgeWatcher } from "../decide/watcher_health.ts";
import { observeClaim } from "../observe/claim.ts";
import type { Home } from "../observe/home.ts";
import { observeWatcher } from "../observe/watcher.ts";
import type { Processes } from "../platform/processes.ts";
import { noticeExists } from "../state/failure_episode.ts";
import type { Accountant } from "./accountant.ts";
import { endEpisodeShared } from "./episode.ts";
import { isLegacyClaimLive } from "./legacy_claim.ts";
import { terminalCheck } from "./terminal_check.ts";
import { waitForRecovery } from "./wait_for_recovery.ts";

/** How cooperation ended. */
export type Cooperation =
  | {
    readonly kind: "allow";
    readonly because: RecoveryOwner | "first-failure" | "recovered" | "stepped-aside";
  }
  /** Supervision is proven, but its episode could not be closed. */
  | { readonly kind: "recovery-not-recorded" }
  | { readonly kind: "alarm" }
  | { readonly kind: "block"; readonly count: number | undefined };

/** What cooperation needs. */
export interface CooperationRequest {
  readonly home: Home;
  readonly variables: ClaudeVariables;
  readonly sessionId: string;
  readonly accountant: Accountant;
  /** Looks at processes afresh: the wait must see what changes. */
  readonly look: () => Processes;
}

/** Waits for the auto-arm, then decides whether this stop is blocked. */
export async function cooperate(request: CooperationRequest): Promise<Cooperation> {
  const { home, variables } = request;
  const looks = new RecoveryLooks(request);
  const recovery = await waitForRecovery(
    home.state,
    syncWaitMs(variables).value,
    () => looks.once(),
  );
  if (recovery !== undefined) return await concludeAllowed(request, recovery);
  return await block(request);
}

type Allowing = Extract<Cooperation, { kind: "allow" }>["because"];

/** One look after the other, charging what it observes. */
class RecoveryLooks {
  readonly #request: CooperationRequest;

  constructor(request: CooperationRequest) {
    this.#request = request;
  }

  /** Why the stop may end, or `undefined` to go on waiting. */
  async once(): Promise<Allowing | undefined> {
    const recovery = await observeRecovery(this.#request);
    const { accountant } = this.#request;
    switch (recovery.kind) {
      case "supervised":
        return "recovered";
      case "owned":
        if (recovery.observe) await accountant.account("observe");
        return recovery.because;
      case "first-failure":
        return (await accountant.account("observe"))?.openedByFailure === true
          ? "first-failure"
          : undefined;
      case "later-failure":
        await accountant.account("observe");
        return undefined;
      case "nobody":
        return undefined;
    }
  }
}

/** One look at everything that may continue this stop; writes nothing. */
export async function observeRecovery(request: CooperationRequest): Promise<Recovery> {
  const { home: { state }, variables, look } = request;
  const processes = look();
  const graceSeconds = guardClaimGraceSeconds(variables);
  const claim = await observeClaim(state, processes);
  return judgeRecovery({
    watcherHealthy: await isHealthy(request, processes),
    claim: judgeClaim(claim, graceSeconds),
    legacyClaim: await isLegacyClaimLive(state, graceSeconds, look),
    outcome: claim.glance.outcome,
    fresh: (claim.ageSeconds ?? Infinity) < epochFreshSeconds(variables).value,
    noticed: noticeExists(state),
  });
}

async function isHealthy(request: CooperationRequest, processes: Processes): Promise<boolean> {
  const { home, variables } = request;
  return judgeWatcher(await observeWatcher(home, variables, processes)).kind === "healthy";
}

/** A watcher that came up during the wait ends the episode, or the stop is not known to be safe. */
async function concludeAllowed(
  request: CooperationRequest,
  because: Allowing,
): Promise<Cooperation> {
  if (await isHealthy(request, request.look())) {
    return await endEpisodeShared(request.home.state)
      ? { kind: "allow", because: "recovered" }
      : { kind: "recovery-not-recorded" };
  }
  return { kind: "allow", because };
}

async function block(request: CooperationRequest): Promise<Cooperation> {
  const { home: { state }, variables, look } = request;
  const accounted = await request.accountant.account("block");
  if (accounted === undefined) return { kind: "block", count: undefined };
  const { count } = accounted.budget;
  const graceSeconds = guardClaimGraceSeconds(variables);
  const claimNow = async (): Promise<ClaimState> =>
    judgeClaim(await observeClaim(state, look()), graceSeconds);
  const outcome = await terminalCheck({
    state,
    sessionId: request.sessionId,
    budget: blockBudget(variables),
    count,
    chargedElsewhere: accounted.secondDelivery ? accounted.budget.charge : undefined,
    graceSeconds,
    look,
    isClaimOpen: async () => (await claimNow()).kind === "open",
    isWatcherHealthy: () => isHealthy(request, look()),
  });
  switch (outcome) {
    case "alarm":
      return { kind: "alarm" };
    case "step-aside":
      return { kind: "allow", because: "stepped-aside" };
    case "block":
      return { kind: "block", count };
  }
}
