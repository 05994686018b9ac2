/** The deadman's view of a home: the guard's rules, with what cannot be known kept apart. */

import { assertEquals } from "@std/assert";
import { judgeCondition } from "../../src/decide/deadman_condition.ts";
import type {
  BeaconFact,
  DaemonFact,
  HolderFact,
  NeedFact,
  ScopeFact,
  TurnEndFacts,
  WatcherFact,
} from "../../src/decide/facts.ts";
import { parsePid } from "../../src/platform/pid.ts";

const GRACE = { FM_GUARD_GRACE: undefined, FM_POLL: undefined };
const NOBODY: HolderFact = { kind: "none" };

const IN_SCOPE: ScopeFact = {
  marker: { kind: "absent" },
  git: "primary",
  agentsFile: "file",
  bin: "directory",
  state: "directory",
};

const NEEDED: NeedFact = { kind: "counted", tasks: 2, sources: 0, checks: 0, relay: false };

const WATCHER: WatcherFact = {
  holder: NOBODY,
  home: { kind: "text", text: "/h" },
  path: { kind: "text", text: "/h/bin/fm-watch.sh" },
  identity: { kind: "text", text: "linux-starttime=1 cmdline-hex=61" },
  expectedHome: "/h",
  expectedPath: "/h/bin/fm-watch.sh",
  beacon: { kind: "never" },
  grace: GRACE,
};

const DAEMON: DaemonFact = {
  mode: "off",
  holder: NOBODY,
  identity: { kind: "text", text: "linux-starttime=1 cmdline-hex=61" },
  beacon: { kind: "never" },
  grace: GRACE,
};

/** A living process of which nothing can be read. */
function unreadable(): HolderFact {
  const pid = parsePid("77");
  if (pid === undefined) throw new Error("77 is a pid");
  const identity = { kind: "unknown", because: "hidden" } as const;
  return { kind: "recorded", pid, liveness: "unknown", identity };
}

function beat(ageSeconds: number): BeaconFact {
  return { kind: "beat", ageSeconds };
}

type FactName = "scope" | "need" | "watcher" | "daemon";
type Facts = Pick<TurnEndFacts, FactName>;

const UNWATCHED: Facts = { scope: IN_SCOPE, need: NEEDED, watcher: WATCHER, daemon: DAEMON };

/** Gives facts as an observer does, and notes which were asked for. */
function observer(
  facts: Facts,
  asked: string[] = [],
): <Name extends FactName>(name: Name) => Promise<TurnEndFacts[Name]> {
  return (name) => {
    asked.push(name);
    return Promise.resolve<TurnEndFacts[typeof name]>(facts[name]);
  };
}

const ROWS: ReadonlyArray<readonly [name: string, changes: Partial<Facts>, verdict: string]> = [
  [
    "need and nobody there",
    {},
    "unhealthy: 2 task(s) in flight; watcher unheld: nobody holds the lock; away mode is off",
  ],
  [
    "no need",
    { need: { ...NEEDED, tasks: 0 } },
    "healthy: nothing needs supervision",
  ],
  ["need unknown", { need: { kind: "unknown", because: "closed" } }, "unknown: closed"],
  [
    "the home has gone",
    { scope: { ...IN_SCOPE, agentsFile: "absent" } },
    "unknown: the home is not guarded: no AGENTS.md",
  ],
  [
    "a beating watcher that cannot be identified",
    { watcher: { ...WATCHER, holder: unreadable(), beacon: beat(299) } },
    "unknown: watcher identity-unknown",
  ],
  [
    "a watcher that cannot be identified, its beat out of date",
    { watcher: { ...WATCHER, holder: unreadable(), beacon: beat(300) } },
    "unhealthy: 2 task(s) in flight; watcher identity-unknown",
  ],
  [
    "a watcher that cannot be identified, its beat closed",
    { watcher: { ...WATCHER, holder: unreadable(), beacon: { kind: "unreadable" } } },
    "unknown: watcher identity-unknown",
  ],
  [
    "a beating daemon that cannot be identified",
    { daemon: { ...DAEMON, mode: "away", holder: unreadable(), beacon: beat(299) } },
    "unknown: daemon identity-unknown",
  ],
  [
    "a daemon that cannot be identified and never beat",
    { daemon: { ...DAEMON, mode: "away", holder: unreadable() } },
    "unhealthy: 2 task(s) in flight; watcher unheld",
  ],
  [
    "away, and no daemon",
    { daemon: { ...DAEMON, mode: "away" } },
    "unhealthy: 2 task(s) in flight; watcher unheld: nobody holds the lock; away mode: nobody",
  ],
];

for (const [name, changes, verdict] of ROWS) {
  Deno.test(`deadman condition: ${name}`, async () => {
    const { kind, because } = await judgeCondition(observer({ ...UNWATCHED, ...changes }));
    assertEquals(`${kind}: ${because}`.slice(0, verdict.length), verdict);
  });
}

Deno.test("deadman condition: without need no process is looked at", async () => {
  const asked: string[] = [];
  await judgeCondition(observer({ ...UNWATCHED, need: { ...NEEDED, tasks: 0 } }, asked));
  assertEquals(asked, ["scope", "need"]);
});
