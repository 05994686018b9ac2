/**
 * One change that the Claude guard or the auto-arm makes, in a process of its own that a test can have
 * killed at any step of it. Not a test: started with the state directory, the change, and its words.
 *
 *     claude_steps_child.ts STATE claim
 *     claude_steps_child.ts STATE commit OUTCOME [notice]   for a generation that it claims first
 *     claude_steps_child.ts STATE rewake                    likewise
 *     claude_steps_child.ts STATE end-owned                 likewise: ends the episode
 *     claude_steps_child.ts STATE charge SESSION EVENT STARTED_AT_MS
 *     claude_steps_child.ts STATE terminal-check SESSION COUNT healthy|down
 *     claude_steps_child.ts STATE end-episode | forget-count
 *     claude_steps_child.ts STATE acquire | release         the session lock
 *
 * At its end it prints what the change came to, and its steps, see `tests/support/killed_at_step.ts`.
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
import type { TerminalOutcome } from "../../src/state/claude_ledger.ts";
import { countSteps } from "../support/killed_at_step.ts";

const [state = "", change = "", ...words] = Deno.args;
const environment = processEnvironment();
const look = (): Processes => systemProcesses(environment);
const GRACE_SECONDS = 300;

async function claim(): Promise<OwnClaim> {
  const attempt = await claimNext({
    state,
    graceSeconds: GRACE_SECONDS,
    look,
    trustedSessionId: "S1",
  });
  if (attempt.kind !== "claimed") throw new Error(`no claim: ${attempt.kind}`);
  return attempt.claim;
}

function outcomeNamed(word: string): TerminalOutcome {
  if (word === "clean" || word === "failed") return word;
  throw new Error(`no such outcome here: ${word}`);
}

async function charge(
  [sessionId = "", event = "", startedAt = ""]: readonly string[],
): Promise<string> {
  const accountant = new Accountant({ state, sessionId, event, startedAtMs: Number(startedAt) });
  return `charged ${(await accountant.account("block"))?.budget.count}`;
}

async function decideLast(
  [sessionId = "", count = "", watcher = ""]: readonly string[],
): Promise<string> {
  return await terminalCheck({
    state,
    sessionId,
    budget: 3,
    count: Number(count),
    chargedElsewhere: undefined,
    graceSeconds: GRACE_SECONDS,
    look,
    isClaimOpen: () => Promise.resolve(false),
    isWatcherHealthy: () => Promise.resolve(watcher === "healthy"),
  });
}

type Change = (words: readonly string[]) => Promise<string>;

/** For each change: what is done before its steps count, and the change itself. */
const CHANGES: Readonly<Record<string, () => Promise<Change>>> = {
  "claim": () => Promise.resolve(async () => `claimed ${(await claim()).epoch}`),
  "commit": async () => {
    const own = await claim();
    return async ([outcome = "", notice]) =>
      await own.commit(outcomeNamed(outcome), { notice: notice === "notice" });
  },
  "rewake": async () => {
    const own = await claim();
    return async () => await own.commitRewake(() => Promise.resolve(true));
  },
  "end-owned": async () => {
    const own = await claim();
    return () => Promise.resolve(own.endEpisode());
  },
  "charge": () => Promise.resolve(charge),
  "terminal-check": () => Promise.resolve(decideLast),
  "end-episode": () => Promise.resolve(async () => String(await endEpisodeShared(state))),
  "forget-count": () =>
    Promise.resolve(() => {
      forgetCount(state);
      return Promise.resolve("done");
    }),
  "acquire": () =>
    Promise.resolve(async () => (await acquireSessionLock({ state, environment, look })).kind),
  "release": () =>
    Promise.resolve(async () => (await releaseSessionLock({ state, environment, look })).kind),
};

const prepared = await CHANGES[change]?.();
if (prepared === undefined) throw new Error(`no such change: ${change}`);
const steps = countSteps();
console.log(`outcome ${await prepared(words)}`);
steps.report();
