/**
 * When a turn must not end, over every combination of facts.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import type {
  DaemonFact,
  NeedFact,
  ScopeFact,
  SessionDirectoryFact,
  TurnEndFacts,
  WatcherFact,
} from "../../src/decide/facts.ts";
import { decideTurnEnd, type TurnEndMode, type TurnEndVerdict } from "../../src/decide/turn_end.ts";
import { identityNamed, payloadOf, pidOf, PRIMARY_HOME } from "../support/facts.ts";

const NO_SETTINGS = { FM_GUARD_GRACE: undefined, FM_POLL: undefined };

const PAYLOADS = {
  empty: payloadOf(""),
  unreadable: payloadOf("{"),
  first: payloadOf("{}"),
  continued: payloadOf('{"stop_hook_active":true}'),
  wrong: payloadOf('{"stop_hook_active":null}'),
  "cursor first": payloadOf('{"cursor_version":"x"}'),
  "cursor continued": payloadOf('{"cursor_version":"x","stop_hook_active":true}'),
  "cursor wrong": payloadOf('{"cursor_version":"x","stop_hook_active":null}'),
} as const;

const DIRECTORIES = {
  "not anchored": { kind: "not-anchored" },
  "at root": { kind: "at-root" },
  elsewhere: { kind: "elsewhere", because: "x" },
  unknown: { kind: "unknown" },
} as const satisfies Readonly<Record<string, SessionDirectoryFact>>;

const SCOPES = {
  in: PRIMARY_HOME,
  out: { ...PRIMARY_HOME, git: "linked-worktree" },
} as const satisfies Readonly<Record<string, ScopeFact>>;

const NEEDS = {
  none: { kind: "counted", tasks: 0, sources: 0, checks: 0, relay: false },
  task: { kind: "counted", tasks: 1, sources: 0, checks: 0, relay: false },
  relay: { kind: "counted", tasks: 0, sources: 0, checks: 0, relay: true },
  unknown: { kind: "unknown", because: "permission denied" },
} as const satisfies Readonly<Record<string, NeedFact>>;

const WATCHERS = {
  healthy: watcher(true),
  down: watcher(false),
} as const satisfies Readonly<Record<string, WatcherFact>>;

const DAEMONS = {
  owns: daemon("away"),
  off: daemon("off"),
} as const satisfies Readonly<Record<string, DaemonFact>>;

type Payload = keyof typeof PAYLOADS;

/** One combination, by names. */
interface Combination {
  readonly mode: TurnEndMode;
  readonly payload: Payload;
  readonly directory: keyof typeof DIRECTORIES;
  readonly scope: keyof typeof SCOPES;
  readonly need: keyof typeof NEEDS;
  readonly watcher: keyof typeof WATCHERS;
  readonly daemon: keyof typeof DAEMONS;
}

/** The written truth table, as one sentence a line; the first that applies decides. */
function expected(facts: Combination): string {
  const { payload, mode } = facts;
  if (payload === "empty") return "allow no-payload";
  if (payload === "unreadable") return "allow payload-unreadable";
  if (payload.startsWith("cursor") && mode === "default") return "allow foreign-host";
  if (payload.endsWith("wrong")) return "allow loop-guard-unreadable";
  if (payload.endsWith("continued")) return "allow already-continued";
  if (facts.directory === "elsewhere") return "allow session-elsewhere";
  if (facts.scope === "out") return "allow out-of-scope";
  if (facts.need === "none") return "allow no-need";
  if (facts.need === "unknown") return "allow need-unknown";
  if (facts.watcher === "healthy") return "allow watcher-healthy";
  if (facts.daemon === "owns") return "allow daemon-owns";
  return "block unsupervised";
}

Deno.test("decideTurnEnd: every combination of facts gets the verdict of the truth table", async () => {
  const all = combinations();
  assertEquals(all.length, 2 * 8 * 4 * 2 * 4 * 2 * 2);
  for (const combination of all) {
    const { kind, code } = await judge(combination);
    assertEquals(`${kind} ${code}`, expected(combination), JSON.stringify(combination));
  }
});

Deno.test("decideTurnEnd: only an unsupervised need blocks", async () => {
  const blocked = await Promise.all(combinations().map(judge));
  const codes = new Set(blocked.filter(({ kind }) => kind === "block").map(({ code }) => code));
  assertEquals([...codes], ["unsupervised"]);
});

Deno.test("decideTurnEnd: facts behind the deciding one are never asked for", async () => {
  const asked: string[] = [];
  await decideTurnEnd("default", (name) => {
    asked.push(name);
    return Promise.resolve(facts({ ...UNSUPERVISED, need: "none" })[name]);
  });
  assertEquals([...new Set(asked)], ["payload", "sessionDirectory", "scope", "need"]);
});

Deno.test("decideTurnEnd: every step says what it saw and why it is asked", async () => {
  const { steps } = await judge(UNSUPERVISED);
  assertEquals(steps.map(({ rule }) => rule), [
    "payload",
    "host",
    "continuation",
    "session-directory",
    "scope",
    "need",
    "watcher",
    "daemon",
  ]);
  for (const { because, conclusion } of steps) {
    assert(because.endsWith(".") && conclusion.saw.length > 0);
  }
  assertEquals(steps.map(({ conclusion }) => conclusion.kind), [
    ...Array<string>(7).fill("ask-on"),
    "block",
  ]);
});

Deno.test("decideTurnEnd: with --cursor the host is not asked", async () => {
  const { steps } = await judge({ ...UNSUPERVISED, mode: "cursor" });
  assertEquals(steps.some(({ rule }) => rule === "host"), false);
});

const UNSUPERVISED: Combination = {
  mode: "default",
  payload: "first",
  directory: "not anchored",
  scope: "in",
  need: "task",
  watcher: "down",
  daemon: "off",
};

function combinations(): readonly Combination[] {
  const modes: readonly TurnEndMode[] = ["default", "cursor"];
  return modes.flatMap((mode) =>
    names(PAYLOADS).flatMap((payload) =>
      names(DIRECTORIES).flatMap((directory) =>
        names(SCOPES).flatMap((scope) =>
          names(NEEDS).flatMap((need) =>
            names(WATCHERS).flatMap((watcher) =>
              names(DAEMONS).map((daemon) => ({
                mode,
                payload,
                directory,
                scope,
                need,
                watcher,
                daemon,
              }))
            )
          )
        )
      )
    )
  );
}

function judge(combination: Combination): Promise<TurnEndVerdict> {
  const all = facts(combination);
  return decideTurnEnd(combination.mode, (name) => Promise.resolve(all[name]));
}

function facts(combination: Combination): TurnEndFacts {
  return {
    payload: PAYLOADS[combination.payload],
    sessionDirectory: DIRECTORIES[combination.directory],
    scope: SCOPES[combination.scope],
    need: NEEDS[combination.need],
    watcher: WATCHERS[combination.watcher],
    daemon: DAEMONS[combination.daemon],
  };
}

function names<Name extends string>(table: Readonly<Record<Name, unknown>>): readonly Name[] {
  const isName = (name: string): name is Name => name in table;
  return Object.keys(table).filter(isName);
}

function watcher(healthy: boolean): WatcherFact {
  return {
    ...holder(),
    home: { kind: "text", text: "/h" },
    path: { kind: "text", text: "/h/bin/fm-watch.sh" },
    expectedHome: "/h",
    expectedPath: "/h/bin/fm-watch.sh",
    beacon: { kind: "beat", ageSeconds: healthy ? 5 : 500 },
    grace: NO_SETTINGS,
  };
}

function daemon(mode: DaemonFact["mode"]): DaemonFact {
  return {
    mode,
    ...holder(),
    beacon: { kind: "beat", ageSeconds: 500 },
    grace: { ...NO_SETTINGS, FM_POLL: "600" },
  };
}

function holder(): Pick<DaemonFact, "holder" | "identity"> {
  const identity = { kind: "known", identity: identityNamed("x") } as const;
  return {
    holder: { kind: "recorded", pid: pidOf(4242), liveness: "alive", identity },
    identity: { kind: "text", text: "x" },
  };
}
