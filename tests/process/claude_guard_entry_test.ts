/**
 * The guard up to and around its cooperation: which stops are its business at all, whose they are, the
 * truth table of what it comes to, and the record that a parent home reads.
 *
 * @module
 */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { dirname, fromFileUrl, join } from "@std/path";
import {
  BUDGET,
  BUDGET_LOCK,
  type GuardHome,
  type GuardRow,
  makeGuardHome,
  playRows,
  systemMessageOf,
} from "../support/claude_home.ts";
import { openSession } from "../support/claude_session.ts";
import { exists, textOf } from "../support/files.ts";
import { makeHome } from "../support/home.ts";
import { asOtherUser, deadPid, identityOf } from "../support/processes.ts";
import { expectedOf } from "../support/rows.ts";
import { snapshot } from "../support/snapshot.ts";
import { FIRST_STOP, tabulate, TURNGUARD, verdictOf } from "../support/turnguard.ts";

const FIXTURES = join(dirname(dirname(fromFileUrl(import.meta.url))), "fixtures");

function table(name: string, rows: readonly GuardRow[]): void {
  Deno.test(`claude guard: ${name}`, async () => {
    assertEquals(await playRows(rows), expectedOf(rows));
  });
}

async function once(home: GuardHome, options?: Parameters<GuardHome["stop"]>[0]): Promise<string> {
  const verdict = await home.stop({ waitMs: 0, ...options });
  return `${verdict}, ${home.left()}`;
}

/** One line of the truth table, in its columns. */
interface Situation {
  readonly entry: "none" | "open" | "arming" | string;
  readonly stale?: boolean;
  readonly notice?: boolean;
  readonly budget?: readonly [count: number, epoch: "same" | "other"];
  readonly alarm?: boolean;
  readonly away?: boolean;
  readonly locked?: boolean;
}

const EPOCH = 7;

async function arrange(home: GuardHome, situation: Situation): Promise<void> {
  const { entry, budget } = situation;
  if (entry === "open") await home.open(EPOCH);
  else if (entry !== "none") home.ledger(entry, EPOCH, { age: situation.stale === true ? 60 : 0 });
  if (situation.notice === true) home.notice();
  if (situation.alarm === true) home.alarm();
  if (situation.away === true) home.home.away();
  if (situation.locked === true) home.lock(BUDGET_LOCK, home.outsider().pid);
  if (budget === undefined) return;
  const same = entry === "none" ? "" : EPOCH;
  home.budget(budget[0], budget[1] === "same" ? same : EPOCH - 1);
}

const TRUTH: ReadonlyArray<readonly [situation: Situation, expected: string]> = [
  [{ entry: "none" }, "block, B(1,)"],
  [{ entry: "none", budget: [2, "same"] }, "block, B(3,)"],
  [{ entry: "open" }, "allow, -"],
  [{ entry: "open", budget: [2, "other"], alarm: true }, "allow, B(2,6) A"],
  [{ entry: "open", notice: true, budget: [2, "other"] }, "allow, B(3,7) N"],
  [{ entry: "open", notice: true, budget: [2, "same"] }, "allow, B(2,7) N"],
  [{ entry: "open", notice: true, budget: [2, "same"], alarm: true }, "allow, B(2,7) N A"],
  [{ entry: "open", notice: true }, "allow, B(1,7) N"],
  [{ entry: "arming", budget: [2, "same"] }, "block, B(3,7)"],
  [{ entry: "arming", stale: true, budget: [2, "same"] }, "block, B(3,7)"],
  [{ entry: "rewake", budget: [2, "other"] }, "allow, B(2,6)"],
  [{ entry: "rewake", notice: true, budget: [2, "other"] }, "allow, B(3,7) N"],
  [{ entry: "rewake", stale: true, budget: [2, "same"] }, "block, B(3,7)"],
  [{ entry: "failed", notice: true }, "allow, B(0,7) N"],
  [{ entry: "failed", notice: true, budget: [2, "other"] }, "block, B(3,7) N"],
  [{ entry: "failed", notice: true, budget: [3, "other"] }, "alarm, B(4,7) N A"],
  [{ entry: "failed", notice: true, budget: [2, "same"] }, "block, B(3,7) N"],
  [{ entry: "failed", notice: true, budget: [3, "same"] }, "alarm, B(4,7) N A"],
  [{ entry: "failed" }, "block, B(1,7)"],
  [{ entry: "failed", stale: true, notice: true }, "block, B(0,7) N"],
  [{ entry: "failed-suppressed", notice: true }, "block, B(0,7) N"],
  [{ entry: "failed-suppressed", notice: true, budget: [3, "other"] }, "alarm, B(4,7) N A"],
  [
    { entry: "failed-suppressed", stale: true, notice: true, budget: [3, "other"] },
    "alarm, B(4,7) N A",
  ],
  [
    { entry: "failed-suppressed", notice: true, budget: [4, "same"], alarm: true },
    "block, B(5,7) N A",
  ],
  [
    { entry: "failed-suppressed", stale: true, notice: true, budget: [4, "same"], alarm: true },
    "block, B(5,7) N A",
  ],
  [{ entry: "failed-suppressed", budget: [9, "other"] }, "block, B(10,7)"],
  [{ entry: "clean", notice: true, budget: [9, "other"] }, "block, B(10,7) N"],
  [{ entry: "afk", notice: true, budget: [9, "other"] }, "block, B(10,7) N"],
  [{ entry: "what", notice: true, budget: [9, "other"] }, "block, B(10,7) N"],
  [{ entry: "failed", notice: true, budget: [9, "other"], locked: true }, "block, B(9,6) N"],
  [{ entry: "failed", notice: true, budget: [9, "other"], away: true }, "block, B(10,7) N"],
];

table(
  "the truth table of cooperation holds (11.1)",
  TRUTH.map((
    [situation, expected],
  ): GuardRow => [JSON.stringify(situation), expected, async (home) => {
    await arrange(home, situation);
    return await once(home);
  }]),
);

table("payloads and hosts that are not its own are left alone (43, 46, 47)", [
  ["43", "allow, -", (home) => once(home, { stdin: '{"cursor_version":"x"}' })],
  ["43 with --cursor", "block", async (home) => {
    const hook = await home.session.start(
      [TURNGUARD, "stop", "--claude", "--cursor", ...home.home.args],
      { stdin: '{"cursor_version":"x"}', env: { FM_CLAUDE_AUTOARM_SYNC_WAIT_MS: "0" } },
    );
    return verdictOf(await hook.ended());
  }],
  ["46", "allow, -", (home) => once(home, { env: { GROK_HOOK_EVENT: "stop" } })],
  ["46 by the other variable", "allow, -", (home) => once(home, { env: { GROK_AGENT: "1" } })],
  ["47", "block, B(1,)", (home) => once(home, { env: { GROK_SESSION_ID: "g" } })],
]);

/** A home whose last task has gone. */
function idle(home: GuardHome): GuardHome {
  home.home.remove("state/task1.meta");
  return home;
}

table("an idle home forgets its count, unless an episode is open (50-52)", [
  ["50", "allow, -", (home) => once(idle(home).budget(2, 3))],
  ["51", "allow, B(2,3) N", (home) => once(idle(home).budget(2, 3).notice())],
  [
    "52",
    "allow, B(2,3)",
    (home) => once(idle(home).budget(2, 3).lock(BUDGET_LOCK, home.outsider().pid)),
  ],
]);

/** All three files of an episode, unchanged, or what became of them. */
async function recovered(home: GuardHome): Promise<string> {
  await home.home.watcher(5);
  return await once(home);
}

table("proven supervision ends an episode, or the stop (53-56)", [
  ["53", "allow, -", (home) => recovered(home.episode())],
  [
    "54",
    "unrecorded, B(2,3) N A",
    (home) => recovered(home.episode().lock(BUDGET_LOCK, home.outsider().pid)),
  ],
  ["55", "unrecorded, B(2,3) N A", (home) => {
    home.budget(2, 3).notice();
    Deno.mkdirSync(home.path("state/.claude-autoarm-failure-alarmed"));
    return recovered(home);
  }],
  ["56", "allow, -", async (home) => {
    home.episode().home.away().beat(200);
    await home.home.daemon();
    return await once(home);
  }],
  ["56 with the lock held", "unrecorded, B(2,3) N A", async (home) => {
    home.episode().lock(BUDGET_LOCK, home.outsider().pid).home.away().beat(200);
    await home.home.daemon();
    return await once(home);
  }],
]);

/** A home whose lock another live session holds. */
function foreign(home: GuardHome): number {
  const { pid } = home.foreignHarness();
  home.session.hold(pid);
  return pid;
}

Deno.test("claude guard: another live session's home releases every stop (57)", async () => {
  await using home = await makeGuardHome();
  const pid = foreign(home);
  // The lock's holder is recognised by the name that it has once it runs.
  await identityOf(pid);
  const before = snapshot(home.home.state);
  for (let stop = 0; stop < 5; stop++) {
    const message = systemMessageOf(await home.run()) ?? "";
    assertMatch(message, /^FIRSTMATE SUPERVISION IS OWNED BY ANOTHER LIVE SESSION: /);
    assertStringIncludes(
      message,
      "this read-only session cannot and should not arm or repair the watcher",
    );
    assertStringIncludes(message, `(lock owner pid ${pid})`);
  }
  assertEquals(snapshot(home.home.state), before);
});

table("only proof of another live session releases a stop (58-60, 62)", [
  ["58", "foreign, -", async (home) => {
    await identityOf(foreign(home));
    home.home.beat(5);
    return await once(home);
  }],
  ["59", "allow, -", async (home) => {
    await identityOf(foreign(home));
    return await recovered(home);
  }],
  ["60 dead", "block, B(1,)", async (home) => {
    home.session.hold(await deadPid());
    return await once(home);
  }],
  ["60 no number", "block, B(1,)", (home) => {
    home.home.write("state/.lock", "claude\n");
    return once(home);
  }],
  ["60 missing", "block, B(1,)", (home) => {
    home.home.remove("state/.lock");
    return once(home);
  }],
  ["60 a link", "block, B(1,)", async (home) => {
    await identityOf(foreign(home));
    Deno.renameSync(home.path("state/.lock"), home.path("lock"));
    Deno.symlinkSync(home.path("lock"), home.path("state/.lock"));
    return await once(home);
  }],
  ["60 no harness", "block, B(1,)", async (home) => {
    const { pid } = home.outsider();
    await identityOf(pid);
    home.session.hold(pid);
    return await once(home);
  }],
  ["62", "block, B(1,)", async (home) => {
    await identityOf(foreign(home));
    home.home.write("state/.lock-session", "c1\n");
    return await once(home, {
      env: { CLAUDE_CODE_SESSION_ID: "c1", CLAUDE_PID: String(home.session.pid) },
    });
  }],
  ["62 with another id", "foreign, -", async (home) => {
    await identityOf(foreign(home));
    home.home.write("state/.lock-session", "c2\n");
    return await once(home, {
      env: { CLAUDE_CODE_SESSION_ID: "c1", CLAUDE_PID: String(home.session.pid) },
    });
  }],
]);

Deno.test("claude guard: a session that cannot tell its own harness is blocked (61)", async () => {
  const rows: readonly GuardRow[] = [["61", "block, B(1,)", async (home) => {
    await identityOf(foreign(home));
    return await once(home);
  }]];
  // More shells than the walk looks at, so that nothing above them can be found.
  const session = { name: "shell", outer: 17 };
  assertEquals(await playRows(rows, { session }), expectedOf(rows));
});

Deno.test("claude guard: a state that cannot be written blocks without an alarm (14)", async () => {
  const through = (command: readonly string[]): readonly string[] =>
    asOtherUser(command) ?? command;
  const rows: readonly GuardRow[] = [["read-only", "block block, B(3,2) N", async (home) => {
    home.exhausted();
    Deno.chmodSync(home.home.state, 0o555);
    try {
      const verdicts = await home.stops(2, { waitMs: 0 });
      return `${verdicts}, ${home.left()}`;
    } finally {
      Deno.chmodSync(home.home.state, 0o755);
    }
  }]];
  assertEquals(await playRows(rows, { session: { through } }), expectedOf(rows));
});

/** The parent's record of a secondmate `sm-1`, launched as `g1`. */
function pointer(home: GuardHome, launched = "g1"): void {
  const parent = join(home.home.folder, "parent");
  Deno.mkdirSync(parent, { recursive: true });
  home.home.marker().write(".fm-busy-stop", `state=${parent}\nid=sm-1\ngen=g1\n`);
  Deno.writeTextFileSync(join(parent, "sm-1.busy-gen"), `${launched}\n`);
  Deno.writeTextFileSync(join(parent, "sm-1.busy-state"), EARLIER);
}

const EARLIER = "v1 gen=g1 seq=4 state=busy source=claude-hook event=prompt ts=1\n";

/** The parent's record, its time left out, and what else stands beside it. */
function record(home: GuardHome): string {
  const parent = join(home.home.folder, "parent");
  const names = [...Deno.readDirSync(parent)].map(({ name }) => name).sort()
    .filter((name) => !["sm-1.busy-gen", "sm-1.busy-state"].includes(name));
  const line = textOf(join(parent, "sm-1.busy-state"));
  const told = line === EARLIER ? "unchanged" : line.replace(/ts=[0-9]{10}\n$/, "ts");
  return [told, ...names].join(" ");
}

const IDLE = "v1 gen=g1 seq=5 state=idle source=claude-hook event=stop ts";
const BUSY = "v1 gen=g1 seq=5 state=busy source=claude-hook event=stop-blocked ts";

table("a secondmate's parent is told how the turn went (63-66)", [
  ["63", `allow ${IDLE}`, async (home) => {
    pointer(idle(home));
    return `${await home.stop()} ${record(home)}`;
  }],
  ["63 with a watcher", `allow ${IDLE}`, async (home) => {
    pointer(home);
    await home.home.watcher();
    return `${await home.stop()} ${record(home)}`;
  }],
  ["64", `block ${BUSY}`, async (home) => {
    pointer(home);
    return `${await home.stop()} ${record(home)}`;
  }],
  ["65", "block unchanged", async (home) => {
    pointer(home, "g2");
    return `${await home.stop()} ${record(home)}`;
  }],
  ["66", "block unchanged sm-1.busy-state.lock", async (home) => {
    pointer(home);
    const lock = join(home.home.folder, "parent", "sm-1.busy-state.lock");
    Deno.mkdirSync(lock);
    // From the future, so that it cannot grow stale however slow the machine is.
    const later = Date.now() / 1000 + 600;
    Deno.utimeSync(lock, later, later);
    return `${await home.stop()} ${record(home)}`;
  }],
  ["the lock was left behind", `block ${BUSY}`, async (home) => {
    pointer(home);
    const lock = join(home.home.folder, "parent", "sm-1.busy-state.lock");
    Deno.mkdirSync(lock);
    Deno.utimeSync(lock, 1, 1);
    return `${await home.stop()} ${record(home)}`;
  }],
  ["an unreadable payload", "allow unchanged", async (home) => {
    pointer(home);
    return `${await home.stop({ stdin: "{" })} ${record(home)}`;
  }],
]);

/** A payload, and its exit status in the situation that the fixtures are written for. */
type Payload = readonly [file: string, status: 0 | 2];

const BLOCKED_CLAUDE = [
  "stop-ordinary",
  "stop-continuation",
  "stop-background-work",
  "stop-minimal",
  "stop-empty-object",
  "stop-no-session-id",
  "stop-cursor-version-number",
  "stop-pi-code",
  "stop-pi-code-relative",
  "stopfailure-ordinary",
];

const RELEASED_CLAUDE = [
  "stop-malformed-type",
  "stop-null-active",
  "stop-truncated",
  "stop-top-level-array",
  "stop-two-documents",
  "stop-cursor-host",
];

const CODEX: readonly Payload[] = [
  ["codex-stop-ordinary", 2],
  ["codex-stop-continuation", 2],
  ["codex-stop-nullable-fields", 2],
  ["codex-stop-minimal", 2],
  ["codex-stop-malformed-type", 0],
  ["codex-stop-foreign-host", 0],
  ["codex-sessionstart-startup", 2],
  ["codex-pretooluse-bash", 2],
  ["codex-subagentstop-ordinary", 2],
];

/** Every payload of Claude that is no stop; no mode looks at an event's name. */
function otherEvents(): readonly string[] {
  return [...Deno.readDirSync(join(FIXTURES, "payloads"))].map(({ name }) => name)
    .filter((name) => /^claude-(?!stop)/.test(name)).map((name) => name.replace(".json", ""));
}

function cursorPayloads(): readonly string[] {
  return [...Deno.readDirSync(join(FIXTURES, "payloads"))].map(({ name }) => name)
    .filter((name) => name.startsWith("cursor-")).map((name) => name.replace(".json", ""));
}

/** The budget key of payloads that are not keyed by the id that stands in them. */
const UNKNOWN_KEYS = [
  "claude-stop-empty-object",
  "claude-stop-no-session-id",
  "codex-stop-minimal",
];

Deno.test("claude guard: every written payload comes to its documented verdict", async () => {
  const rows: readonly Payload[] = [
    ...BLOCKED_CLAUDE.map((name): Payload => [`claude-${name}`, 2]),
    ...RELEASED_CLAUDE.map((name): Payload => [`claude-${name}`, 0]),
    ...otherEvents().map((name): Payload => [name, 2]),
    ...CODEX,
    ...cursorPayloads().map((name): Payload => [name, 0]),
  ];
  assertEquals(rows.length, 36 + 9 + 16);
  const outcomes = await tabulate(rows, ([file]) => file, async ([file]) => {
    await using home = makeHome();
    home.task();
    await using session = (await openSession(home)).hold();
    const stdin = Deno.readTextFileSync(join(FIXTURES, "payloads", `${file}.json`));
    const run = await session.stop({ stdin, env: { FM_CLAUDE_AUTOARM_SYNC_WAIT_MS: "0" } });
    const key = /^session=(.*)\ncount=1\nepoch=\n/.exec(textOf(home.path(BUDGET)))?.[1];
    const kept = exists(home.path(BUDGET)) ? key === "unknown" ? "unknown" : "keyed" : "no budget";
    return `${verdictOf(run)}, ${kept}`;
  });
  const expected = rows.map(([file, status]) => {
    if (status === 0) return [file, "allow, no budget"] as const;
    return [file, `block, ${UNKNOWN_KEYS.includes(file) ? "unknown" : "keyed"}`] as const;
  });
  assertEquals(outcomes, Object.fromEntries(expected));
});

Deno.test("claude guard: a session id is a key only as far as it can stand in a file", async () => {
  const ids: ReadonlyArray<readonly [json: string, key: string]> = [
    ['"a b"', "a b"],
    ['""', ""],
    ["null", "unknown"],
    ["false", "unknown"],
    ["true", "unknown"],
    ["7", "7"],
    ["{}", "unknown"],
    ["[1]", "unknown"],
    ['"a\\nb"', "unknown"],
    [`"${"x".repeat(512)}"`, "x".repeat(512)],
    [`"${"x".repeat(513)}"`, "unknown"],
  ];
  await using home = await makeGuardHome();
  const keys: string[] = [];
  for (const [json] of ids) {
    await home.run({ waitMs: 0, stdin: `{"session_id":${json}}` });
    keys.push(textOf(home.path(BUDGET)).split("\n")[0] ?? "");
  }
  assertEquals(keys, ids.map(([, key]) => `session=${key}`));
});

Deno.test("claude guard: the first stop of a turn is judged like its continuations", async () => {
  await using home = await makeGuardHome();
  assertEquals(await home.stops(2, { waitMs: 0, stdin: FIRST_STOP }), "block block");
});
