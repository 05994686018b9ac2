/**
 * One step of Claude's two hooks in a process of its own, which a test can have killed at any change it
 * makes. Not a test: started with the state directory and the name of the step, as a child of a session.
 *
 * @module
 */

import { Accountant } from "../../src/act/accountant.ts";
import { claimNext, type OwnClaim } from "../../src/act/claim.ts";
import { endEpisodeShared, forgetCount } from "../../src/act/episode.ts";
import { acquireSessionLock, releaseSessionLock } from "../../src/act/session_lock.ts";
import { terminalCheck } from "../../src/act/terminal_check.ts";
import { processEnvironment } from "../../src/platform/environment.ts";
import { type Processes, systemProcesses } from "../../src/platform/processes.ts";
import { countSteps, tellSteps } from "../support/killed_at_step.ts";

const [state = "", name = ""] = Deno.args;
const environment = processEnvironment();
const look = (): Processes => systemProcesses(environment);

async function claim(): Promise<OwnClaim> {
  const attempt = await claimNext({ state, graceSeconds: 300, look, trustedSessionId: undefined });
  if (attempt.kind !== "claimed") throw new Error(`no claim: ${attempt.kind}`);
  return attempt.claim;
}

function accountant(): Accountant {
  return new Accountant({ state, sessionId: "S1", event: name, startedAtMs: Date.now() });
}

const no = (): Promise<boolean> => Promise.resolve(false);

/** What each step is, the preparation of its own first. */
const STEPS: Readonly<Record<string, () => Promise<unknown>>> = {
  claim: () => {
    countSteps();
    return claim();
  },
  "commit clean": async () => {
    const own = await claim();
    countSteps();
    return await own.commit("clean");
  },
  "commit failed": async () => {
    const own = await claim();
    countSteps();
    return await own.commit("failed", { notice: true });
  },
  "commit rewake": async () => {
    const own = await claim();
    countSteps();
    return await own.commitRewake(() => Promise.resolve(true));
  },
  "end own episode": async () => {
    const own = await claim();
    countSteps();
    return own.endEpisode();
  },
  charge: () => {
    countSteps();
    return accountant().account("block");
  },
  reset: () => {
    countSteps();
    return endEpisodeShared(state);
  },
  forget: () => {
    countSteps();
    forgetCount(state);
    return Promise.resolve();
  },
  alarm: async () => {
    countSteps();
    const accounted = await accountant().account("block");
    return await terminalCheck({
      state,
      sessionId: "S1",
      budget: 3,
      count: accounted?.budget.count ?? 0,
      chargedElsewhere: undefined,
      graceSeconds: 300,
      look,
      isClaimOpen: no,
      isWatcherHealthy: no,
    });
  },
  "acquire the session lock": () => {
    countSteps();
    return acquireSessionLock({ state, environment, look });
  },
  "release the session lock": () => {
    countSteps();
    return releaseSessionLock({ state, environment, look });
  },
};

await STEPS[name]?.();
tellSteps();
