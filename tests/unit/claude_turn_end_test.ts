/**
 * The rules of a Claude turn end up to cooperation, over every combination of facts.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { type ClaudeFacts, decideClaudeTurnEnd } from "../../src/decide/claude_turn_end.ts";
import type { DaemonFact, WatcherFact } from "../../src/decide/facts.ts";
import type { SessionFact } from "../../src/decide/session_owner.ts";
import { identityNamed, payloadOf, pidOf, PRIMARY_HOME } from "../support/facts.ts";

const GRACE = { FM_GUARD_GRACE: undefined, FM_POLL: undefined };

const PAYLOADS = {
  readable: payloadOf("{}"),
  continued: payloadOf('{"stop_hook_active":true}'),
  unreadable: payloadOf("{"),
  wrong: payloadOf('{"stop_hook_active":null}'),
  cursor: payloadOf('{"cursor_version":"x"}'),
};

const HOLDER = {
  kind: "recorded",
  pid: pidOf(7),
  liveness: "alive",
  identity: { kind: "known", identity: identityNamed("i") },
} as const;

const HEALTHY: WatcherFact = {
  holder: HOLDER,
  home: { kind: "text", text: "/h" },
  path: { kind: "text", text: "/h/bin/fm-watch.sh" },
  identity: { kind: "text", text: "i" },
  expectedHome: "/h",
  expectedPath: "/h/bin/fm-watch.sh",
  beacon: { kind: "beat", ageSeconds: 5 },
  grace: GRACE,
};

const NO_DAEMON: DaemonFact = {
  mode: "off",
  holder: { kind: "none" },
  identity: { kind: "absent" },
  beacon: { kind: "beat", ageSeconds: 5 },
  grace: GRACE,
};

const FOREIGN: SessionFact = {
  lockKind: "file",
  holder: pidOf(50),
  holderIsHarness: true,
  ancestry: [pidOf(10)],
  trustedSessionId: undefined,
  recordedSessionId: undefined,
};

/** What differs between two situations. */
interface Situation {
  readonly payload: keyof typeof PAYLOADS;
  readonly grok: boolean;
  readonly acceptCursor: boolean;
  readonly scope: boolean;
  readonly need: boolean;
  readonly watcher: boolean;
  readonly daemon: boolean;
  readonly foreign: boolean;
}

function factsOf(situation: Situation): ClaudeFacts {
  return {
    payload: PAYLOADS[situation.payload],
    sessionDirectory: { kind: "not-anchored" },
    scope: situation.scope ? PRIMARY_HOME : { ...PRIMARY_HOME, git: "linked-worktree" },
    need: {
      kind: "counted",
      tasks: situation.need ? 1 : 0,
      sources: 0,
      checks: 0,
      relay: false,
    },
    watcher: situation.watcher ? HEALTHY : { ...HEALTHY, holder: { kind: "none" } },
    daemon: situation.daemon
      ? { ...NO_DAEMON, mode: "away", holder: HOLDER, identity: { kind: "text", text: "i" } }
      : NO_DAEMON,
    grokHost: situation.grok,
    acceptCursor: situation.acceptCursor,
    session: situation.foreign ? FOREIGN : { ...FOREIGN, ancestry: [pidOf(50)] },
  };
}

/** The entry table, written out as the order in which the conditions count. */
function expected(situation: Situation): string {
  if (situation.payload === "unreadable") return "allow payload-unreadable";
  if (situation.payload === "cursor" && !situation.acceptCursor) return "allow foreign-host";
  if (situation.grok) return "allow foreign-host";
  if (situation.payload === "wrong") return "allow loop-guard-unreadable";
  if (!situation.scope) return "allow out-of-scope";
  if (!situation.need) return "allow no-need";
  if (situation.watcher) return "allow watcher-healthy";
  if (situation.daemon) return "allow daemon-owns";
  return situation.foreign ? "allow foreign-owner" : "block unsupervised";
}

function situations(): readonly Situation[] {
  const kinds: readonly (keyof typeof PAYLOADS)[] = [
    "readable",
    "continued",
    "unreadable",
    "wrong",
    "cursor",
  ];
  return kinds.flatMap((kind) =>
    Array.from({ length: 2 ** 7 }, (_, bits) => ({
      payload: kind,
      grok: (bits & 1) > 0,
      acceptCursor: (bits & 2) > 0,
      scope: (bits & 4) > 0,
      need: (bits & 8) > 0,
      watcher: (bits & 16) > 0,
      daemon: (bits & 32) > 0,
      foreign: (bits & 64) > 0,
    }))
  );
}

async function judged(situation: Situation): Promise<readonly [string, readonly string[]]> {
  const facts = factsOf(situation);
  const asked: string[] = [];
  const verdict = await decideClaudeTurnEnd((name) => {
    asked.push(name);
    return Promise.resolve(facts[name]);
  });
  return [`${verdict.kind} ${verdict.code}`, asked];
}

Deno.test("decideClaudeTurnEnd: the entry table holds for every combination", async () => {
  for (const situation of situations()) {
    const [verdict] = await judged(situation);
    assertEquals(verdict, expected(situation), JSON.stringify(situation));
  }
});

Deno.test("decideClaudeTurnEnd: looks at no process for a stop that is decided earlier", async () => {
  const idle = situations().filter(({ payload, need }) => payload === "readable" && !need);
  for (const situation of idle) {
    const [, asked] = await judged(situation);
    const processes = asked.filter((name) => ["watcher", "daemon", "session"].includes(name));
    assertEquals(processes, [], JSON.stringify(situation));
  }
});
