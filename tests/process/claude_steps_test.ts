/**
 * Claude's two hooks, killed in front of every change that they make and inside every write: the next
 * firing and the next stop judge right, and recover.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { claimNext } from "../../src/act/claim.ts";
import { environmentOf } from "../../src/platform/environment.ts";
import { systemProcesses } from "../../src/platform/processes.ts";
import {
  ALARM,
  BUDGET,
  type GuardHome,
  LEDGER,
  makeGuardHome,
  NOTICE,
} from "../support/claude_home.ts";
import { exists, textOf } from "../support/claude_session.ts";
import { handleWakes } from "../support/handle_wakes.ts";
import { childCommand, childVariables, killPoints } from "../support/kill_points.ts";
import { inBatches, type RunResult, TURNGUARD } from "../support/turnguard.ts";

const CHILD = fromFileUrl(new URL("./claude_steps_child.ts", import.meta.url));
const KILLED = 128 + 9;

/** One step: what it finds, and what has to hold after it, killed or not. */
interface Step {
  readonly prepare?: (home: GuardHome) => unknown;
  /** Returns what is wrong; nothing is the empty string. */
  readonly inspect: (home: GuardHome) => Promise<string>;
}

async function run(
  home: GuardHome,
  name: string,
  env: Readonly<Record<string, string>> = {},
): Promise<RunResult> {
  const words = childCommand(CHILD, [home.home.state, name]);
  const hook = await home.session.start(words, { env: { ...childVariables(), ...env } });
  return await hook.ended();
}

async function killEverywhere(name: string, step: Step): Promise<readonly string[]> {
  const told = await play(name, step, {});
  const complaints = await inBatches(killPoints(told.stdout), async ({ where, env }) => {
    const { status, complaint } = await play(name, step, env);
    if (status !== KILLED) return `${where}: ended with ${status}`;
    return complaint === "" ? "" : `${where}: ${complaint}`;
  });
  return [told.complaint, ...complaints].filter((complaint) => complaint !== "");
}

async function play(
  name: string,
  { prepare, inspect }: Step,
  env: Readonly<Record<string, string>>,
): Promise<RunResult & { readonly complaint: string }> {
  await using home = await makeGuardHome();
  await prepare?.(home);
  const result = await run(home, name, env);
  const complaint = await inspect(home);
  return { ...result, complaint: complaint || lockLeft(home) };
}

/** A lock that still stands; the private directories of the killed are harmless. */
function lockLeft(home: GuardHome): string {
  return home.litter().filter((file) => file.endsWith(".lock")).join(" ");
}

function epochOf(home: GuardHome): number {
  return Number(/^epoch=([0-9]+) /.exec(textOf(home.path(LEDGER)))?.[1] ?? "0");
}

function outcomeOf(home: GuardHome): string {
  return / outcome=([a-z-]+) /.exec(textOf(home.path(LEDGER)))?.[1] ?? "none";
}

/** The next firing claims the generation after the one that stands. */
async function nextClaim(home: GuardHome): Promise<string> {
  const before = epochOf(home);
  const attempt = await claimNext({
    state: home.home.state,
    graceSeconds: 300,
    look: () => systemProcesses(environmentOf({})),
    trustedSessionId: undefined,
  });
  if (attempt.kind !== "claimed") return `the next claim: ${attempt.kind}`;
  return attempt.claim.epoch === before + 1 ? "" : `epoch ${before} to ${attempt.claim.epoch}`;
}

/** The next stop is one of `verdicts`; what it leaves is told in full otherwise. */
async function nextStop(home: GuardHome, ...verdicts: readonly string[]): Promise<string> {
  const verdict = await home.stop({ waitMs: 0 });
  return verdicts.includes(verdict) ? "" : `the next stop: ${verdict}, ${home.left()}`;
}

const STEPS: Readonly<Record<string, Step>> = {
  claim: {
    prepare: (home) => home.ledger("clean", 4),
    inspect: async (home) => {
      const epoch = epochOf(home);
      if (epoch !== 4 && epoch !== 5) return `epoch ${epoch}`;
      // A claim whose owner is dead supervises nothing.
      return await nextStop(home, "block") || await nextClaim(home);
    },
  },
  "commit clean": {
    inspect: async (home) => await nextStop(home, "block") || await nextClaim(home),
  },
  "commit failed": {
    inspect: async (home) => {
      // Only a failure that somebody was told of lets one turn end.
      const told = outcomeOf(home) === "failed" && exists(home.path(NOTICE));
      return await nextStop(home, told ? "allow" : "block") || await nextClaim(home);
    },
  },
  "commit rewake": {
    prepare: (home) => home.home.write("state/.watcher-down", "pending:downtime:g1\n"),
    inspect: async (home) => {
      const marker = textOf(home.path("state/.watcher-down"));
      if (marker !== "pending:downtime:g1\n") return `marker ${marker}`;
      const handedOver = outcomeOf(home) === "rewake";
      const stop = await nextStop(home, handedOver ? "allow" : "block");
      await handleWakes(home.home);
      return stop || await nextClaim(home);
    },
  },
  "end own episode": {
    prepare: (home) => home.ledger("failed-suppressed", 3).episode(),
    inspect: async (home) => {
      await home.home.watcher();
      const ended = await nextStop(home, "allow");
      return ended || (home.left() === "-" ? await nextClaim(home) : home.left());
    },
  },
  charge: {
    prepare: (home) => home.budget(2, ""),
    inspect: async (home) => {
      const before = home.count();
      if (before !== 2 && before !== 3) return `count ${before}`;
      const stop = await nextStop(home, "block");
      return stop || (home.count() === before + 1 ? "" : `${before} to ${home.count()}`);
    },
  },
  reset: {
    prepare: async (home) => await home.episode().home.watcher(),
    inspect: async (home) => {
      const stop = await nextStop(home, "allow");
      return stop || (home.left() === "-" ? "" : home.left());
    },
  },
  forget: {
    prepare: (home) => home.budget(2, "").home.remove("state/task1.meta"),
    inspect: async (home) => {
      const stop = await nextStop(home, "allow");
      return stop || (exists(home.path(BUDGET)) ? home.left() : "");
    },
  },
  alarm: {
    prepare: (home) => home.exhausted(),
    inspect: async (home) => {
      // What was raised already is not raised again; what was not is raised now.
      const stop = await nextStop(home, exists(home.path(ALARM)) ? "block" : "alarm");
      return stop || await nextClaim(home);
    },
  },
  "acquire the session lock": {
    prepare: (home) => home.home.remove("state/.lock"),
    inspect: sessionTakes,
  },
  "release the session lock": { inspect: sessionTakes },
};

/** Whatever was left, the session has its lock after the next acquisition. */
async function sessionTakes(home: GuardHome): Promise<string> {
  const words = [TURNGUARD, "lock", "acquire", ...home.home.args];
  const { status, stderr } = await (await home.session.start(words)).ended();
  if (status !== 0) return `acquire: ${status} ${stderr}`;
  const lock = textOf(home.path("state/.lock"));
  return lock === `${home.session.pid}\n` ? "" : `lock ${JSON.stringify(lock)}`;
}

for (const [name, step] of Object.entries(STEPS)) {
  Deno.test(`claude: killed at any point of "${name}", the next one judges right`, async () => {
    assertEquals(await killEverywhere(name, step), []);
  });
}
