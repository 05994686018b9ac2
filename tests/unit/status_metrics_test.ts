/**
 * `status --prometheus`: the exposition format, one description a metric, and no value that is a guess.
 *
 * @module
 */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { describeMode } from "../../src/modes/help.ts";
import { statusMode } from "../../src/modes/status.ts";
import { homesAsMetrics, STATUS_METRICS } from "../../src/modes/status_metrics.ts";
import type { StateReport } from "../../src/modes/status_report.ts";
import { pidOf } from "../support/facts.ts";
import { parseExposition, valueOf } from "../support/exposition.ts";
import { QUIET_STATE, told, untold } from "../support/status.ts";

/** Homes that between them have a value for every metric. */
const BUSY = told("/busy", {
  need: { kind: "counted", tasks: 3, sources: 1, checks: 2, relay: true },
  watcher: { health: { kind: "healthy", pid: pidOf(9), saw: "" }, pid: pidOf(9) },
  beacon: { kind: "beat", ageSeconds: -2 },
  beat: { kind: "fresh", ageSeconds: -2 },
  awayMode: "quiet",
  digest: { items: 2, oldestSeconds: 60, because: null, wedged: true },
  session: { kind: "recorded", pid: pidOf(8), liveness: "alive" },
  claim: { ...QUIET_STATE.claim, kind: "open", epoch: 7 },
  episode: { blocks: 4, budget: 3, noticed: true, alarmed: true },
  queue: { ...QUIET_STATE.queue, pending: 5, reserved: 1, oldestSeconds: 90 },
});

Deno.test("status --prometheus: documented metrics and printed ones are the same", () => {
  const samples = parseExposition(homesAsMetrics([BUSY], "1.2.3"));
  const printed = new Map(samples.map(({ name, labels }) => {
    const own = Object.keys(labels).filter((label) => label !== "home");
    return [name, own.length === 0 ? name : `${name}{${own.join(",")}}`];
  }));
  assertEquals([...printed.values()], STATUS_METRICS.rows.map(([name]) => name));
  const help = describeMode(statusMode, []);
  for (const [name] of STATUS_METRICS.rows) assert(help.includes(`  ${name} `), name);
});

Deno.test("status --prometheus: times carry their base unit and nothing else does", () => {
  const text = homesAsMetrics([BUSY], "1.2.3");
  const seconds = new Set(
    parseExposition(text).map(({ name }) => name).filter((name) => /_seconds$/.test(name)),
  );
  assertEquals([...seconds], [
    "turnguard_beacon_age_seconds",
    "turnguard_beacon_grace_seconds",
    "turnguard_digest_oldest_age_seconds",
    "turnguard_wake_oldest_age_seconds",
  ]);
  assert(!/NaN|Infinity|undefined|null/.test(text));
});

Deno.test("status --prometheus: values are those of the status", () => {
  const samples = parseExposition(homesAsMetrics([BUSY, told("/quiet")], "1.2.3"));
  const of = (home: string, name: string, labels: Readonly<Record<string, string>> = {}) =>
    valueOf(samples, `turnguard_${name}`, { home, ...labels });
  assertEquals([of("/busy", "supervision_needed"), of("/quiet", "supervision_needed")], [1, 0]);
  assertEquals([of("/busy", "watcher_healthy"), of("/quiet", "watcher_healthy")], [1, 0]);
  assertEquals(
    [of("/busy", "beacon_age_seconds"), of("/quiet", "beacon_age_seconds")],
    [-2, undefined],
  );
  assertEquals([of("/busy", "session_owned"), of("/quiet", "session_owned")], [1, 0]);
  assertEquals([of("/busy", "blocks_counted"), of("/quiet", "blocks_counted")], [4, undefined]);
  assertEquals([of("/busy", "alarm"), of("/quiet", "alarm")], [1, 0]);
  assertEquals([of("/busy", "wakes_pending"), of("/busy", "wake_oldest_age_seconds")], [5, 90]);
  assertEquals(
    ["off", "away", "quiet"].map((mode) => of("/busy", "away_mode", { mode })),
    [0, 0, 1],
  );
  assertEquals(valueOf(samples, "turnguard_build_info", { version: "1.2.3" }), 1);
});

Deno.test("status --prometheus: any path survives in a label", () => {
  const paths = [
    "/plain",
    '/with "quotes"',
    "/back\\slash",
    "/new\nline",
    "/ends in a backslash\\",
    '/a\\"b\\nc\n"',
    "/comma,brace}=",
    "/ünïcode – 家",
  ];
  const samples = parseExposition(homesAsMetrics(paths.map((path) => told(path)), "1"));
  const homes = samples.filter(({ name }) => name === "turnguard_tasks");
  assertEquals(homes.map(({ labels }) => labels["home"]), paths);
});

/** A part that cannot be told, the word that counts it, and the metric that is then left out. */
const DOUBTS: readonly (readonly [string, string, Partial<StateReport>])[] = [
  ["watcher", "watcher_healthy", {
    watcher: { health: { kind: "unknown", because: "identity-unknown", saw: "" }, pid: null },
  }],
  ["beacon", "beacon_age_seconds", {
    beacon: { kind: "unreadable" },
    beat: { kind: "unreadable" },
  }],
  ["daemon", "daemon_owns", { daemon: { kind: "unknown", because: "identity-unknown", saw: "" } }],
  ["digest", "digest_items", {
    digest: { items: null, oldestSeconds: null, because: "denied", wedged: false },
  }],
  ["session", "session_owned", { session: { kind: "unreadable", because: "no pid" } }],
  ["session", "session_owned", {
    session: { kind: "recorded", pid: pidOf(8), liveness: "foreign" },
  }],
  ["autoarm", "claim_open", { claim: { ...QUIET_STATE.claim, kind: "unknown", because: "x" } }],
  ["wakes", "wakes_pending", {
    queue: { ...QUIET_STATE.queue, pending: null, reserved: null, because: "denied" },
  }],
  ["sources", "sources_running", {
    sources: { ...QUIET_STATE.sources, running: null, doubtful: null, because: "no HOME" },
  }],
];

Deno.test("status --prometheus: what cannot be told is left out and counted", () => {
  const doubtsIn = (state: Partial<StateReport>): readonly (string | undefined)[] =>
    parseExposition(homesAsMetrics([told("/a", state)], "1"))
      .filter(({ name, value }) => name === "turnguard_status_undetermined" && value === 1)
      .map(({ labels }) => labels["what"]);
  assertEquals(doubtsIn({}), []);
  for (const [what, metric, state] of DOUBTS) {
    const samples = parseExposition(homesAsMetrics([told("/a", state)], "1"));
    assertEquals(valueOf(samples, `turnguard_${metric}`, { home: "/a" }), undefined, metric);
    assertEquals(doubtsIn(state), [what]);
  }
});

Deno.test("status --prometheus: a home that cannot be read stops no other one", () => {
  const samples = parseExposition(homesAsMetrics([untold("/gone", "denied"), BUSY], "1"));
  const gone = samples.filter(({ labels }) => labels["home"] === "/gone");
  assertEquals([...new Set(gone.map(({ name }) => name))], ["turnguard_status_undetermined"]);
  assertEquals(gone.every(({ value }) => value === 1), true);
  assertEquals(valueOf(samples, "turnguard_tasks", { home: "/busy" }), 3);
});

Deno.test("the exposition reader: refuses what is not of the format", () => {
  const described = "# HELP a b\n# TYPE a gauge\n";
  const wrong = [
    `${described}a{x="1"} 1`,
    `${described}a{x="1"} NaN\n`,
    `${described}a{x="1} 1\n`,
    `${described}a{x="\\t"} 1\n`,
    `${described}a{x="1"} 1\na{x="1"} 2\n`,
    `${described}a{x="1",x="2"} 1\n`,
    `${described}b{x="1"} 1\n`,
    `${described}${described}a{x="1"} 1\n`,
    described,
  ];
  for (const text of wrong) assertThrows(() => parseExposition(text), Error, "", text);
  assertEquals(parseExposition(`${described}a{x="1",y="\\n"} -1.5\n`), [
    { name: "a", labels: { x: "1", y: "\n" }, value: -1.5 },
  ]);
});
