import { assertEquals } from "@std/assert";
import { type HealthyWatcher, judgeAttached } from "../../src/decide/attached_watcher.ts";
import type { BeaconFact, HolderFact, WatcherFact } from "../../src/decide/facts.ts";
import { parsePid, type Pid } from "../../src/platform/pid.ts";
import { type ProcessIdentity, psIdentity } from "../../src/platform/process_identity.ts";

const GRACE_SECONDS = 300;
const BOUND_SECONDS = 900;

const FOLLOWED: HealthyWatcher = { pid: pid(4242), identity: identity("start one"), ageSeconds: 0 };
const OTHER: HealthyWatcher = { pid: pid(77), identity: identity("start two"), ageSeconds: 0 };

/** The watch as `holder` holds it. */
function watchOf(holder: HealthyWatcher, beacon: BeaconFact): WatcherFact {
  return {
    holder: {
      kind: "recorded",
      pid: holder.pid,
      liveness: "alive",
      identity: { kind: "known", identity: holder.identity },
    },
    home: { kind: "text", text: "/h" },
    path: { kind: "text", text: "/h/bin/fm-watch.sh" },
    identity: { kind: "text", text: holder.identity },
    expectedHome: "/h",
    expectedPath: "/h/bin/fm-watch.sh",
    beacon,
    grace: { FM_GUARD_GRACE: String(GRACE_SECONDS), FM_POLL: undefined },
  };
}

function beat(ageSeconds: number): BeaconFact {
  return { kind: "beat", ageSeconds };
}

const LIVE = watchOf(FOLLOWED, beat(5));
const LATE = watchOf(FOLLOWED, beat(400));
const DEAD: HolderFact = {
  kind: "recorded",
  pid: FOLLOWED.pid,
  liveness: "dead",
  identity: { kind: "unknown", because: "the process is dead" },
};

/** What is seen, and what an arm makes of it. */
const LOOKS: readonly (readonly [what: string, fact: WatcherFact, verdict: string])[] = [
  ["a beat", LIVE, "healthy 4242"],
  ["a beat below the grace", watchOf(FOLLOWED, beat(299)), "healthy 4242"],
  ["a beat at the grace", watchOf(FOLLOWED, beat(300)), "slow"],
  ["a beat below the bound", watchOf(FOLLOWED, beat(899)), "slow"],
  ["a beat at the bound", watchOf(FOLLOWED, beat(900)), "stalled 900 of 900"],
  ["a beat past the bound", watchOf(FOLLOWED, beat(5000)), "stalled 5000 of 900"],
  ["no beat any more", watchOf(FOLLOWED, { kind: "never" }), "slow"],
  ["a beat that cannot be read", watchOf(FOLLOWED, { kind: "unreadable" }), "slow"],
  ["a beat from far in the future", watchOf(FOLLOWED, beat(-4000)), "slow"],
  ["another watcher", watchOf(OTHER, beat(5)), "healthy 77"],
  ["another one that is late", watchOf(OTHER, beat(400)), "gone"],
  ["its pid, with another identity", {
    ...watchOf({ ...FOLLOWED, identity: OTHER.identity }, beat(400)),
  }, "gone"],
  ["a lock that records another identity", {
    ...LATE,
    identity: { kind: "text", text: "x" },
  }, "gone"],
  ["a lock of another home", { ...LATE, home: { kind: "text", text: "/other" } }, "gone"],
  ["a lock through another path", { ...LATE, path: { kind: "absent" } }, "gone"],
  ["nobody", { ...LIVE, holder: { kind: "none" } }, "gone"],
  ["a dead one", { ...LIVE, holder: DEAD }, "gone"],
];

function verdictOf(watcher: WatcherFact, unhealthySeconds: number): string {
  const verdict = judgeAttached({
    watcher,
    followed: FOLLOWED,
    unhealthySeconds,
    boundSeconds: BOUND_SECONDS,
  });
  switch (verdict.kind) {
    case "healthy":
      return `healthy ${verdict.watcher.pid}`;
    case "stalled":
      return `stalled ${verdict.ageSeconds} of ${verdict.boundSeconds}`;
    default:
      return verdict.kind;
  }
}

Deno.test("judgeAttached: a late beat alone ends nothing below the bound", () => {
  for (const [what, fact, verdict] of LOOKS) assertEquals(verdictOf(fact, 30), verdict, what);
});

Deno.test("judgeAttached: without a beat to go by, the time since the last good look counts", () => {
  for (const beacon of [{ kind: "never" }, { kind: "unreadable" }, beat(-4000)] as const) {
    assertEquals(verdictOf(watchOf(FOLLOWED, beacon), 899), "slow");
    assertEquals(verdictOf(watchOf(FOLLOWED, beacon), 900), "stalled 900 of 900");
  }
  assertEquals(verdictOf(LATE, 5_000), "slow");
});

function pid(value: number): Pid {
  const parsed = parsePid(String(value));
  if (parsed === undefined) throw new Error(`${value} is no pid`);
  return parsed;
}

function identity(value: string): ProcessIdentity {
  const known = psIdentity(value);
  if (known === undefined) throw new Error("no identity");
  return known;
}
