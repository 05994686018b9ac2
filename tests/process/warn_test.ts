/**
 * The pull guard's scenarios, each in a home of its own and with real processes.
 *
 * Names in brackets are those of the written scenarios. Every call is given a model, so that nothing
 * depends on what runs the tests, and a harness that has no words of its own.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { createHash } from "node:crypto";
import { type LockOverrides, makeHome, type TestHome } from "../support/home.ts";
import {
  asOtherUser,
  below,
  deadPid,
  identityOf,
  namedShell,
  type Sleeper,
  startZombie,
} from "../support/processes.ts";
import { snapshot } from "../support/snapshot.ts";
import {
  inBatches,
  RULE_LINE,
  runProgram,
  type RunResult,
  runTurnguard,
  tabulate,
  TURNGUARD,
} from "../support/turnguard.ts";

type Variables = Readonly<Record<string, string | undefined>>;

const EPISODE = "state/.guard-watcher-stale-banner";
const EPISODE_LOCK = `${EPISODE}.lock`;
const READ_ONLY = { FM_GUARD_READ_ONLY: "1" };

/** The variables of a call, on top of which a test puts its own. */
function variables(home: TestHome, model: string, env: Variables = {}): Variables {
  return {
    ...home.env,
    FM_GUARD_GRACE: "999",
    FM_SUPERVISION_MODEL: model,
    GEMINI_CLI: "1",
    ...env,
  };
}

async function warn(home: TestHome, model = "persistent", env: Variables = {}): Promise<RunResult> {
  return await runTurnguard(["warn", ...home.args], { env: variables(home, model, env) });
}

/** A call in a few words; one that breaks the form of its output is told in full. */
function saidBy({ status, stdout, stderr }: RunResult): string {
  const told = `status ${status}, stdout ${JSON.stringify(stdout)}, stderr ${stderr}`;
  if (status !== 0 || stdout !== "") return told;
  const lines = stderr.split("\n");
  if (lines.pop() !== "") return told;
  const words: string[] = [];
  for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
    if (line === RULE_LINE) {
      const end = lines.indexOf(RULE_LINE);
      if (end < 0) return told;
      words.push(bannerWord(lines.splice(0, end + 1)));
    } else words.push(lineWord(line));
  }
  return words.join(", ") || "silent";
}

const CAUSES: ReadonlyArray<readonly [cause: string, word: string]> = [
  ["but no live watcher process holds this home lock (last beat: ", "no-watcher"],
  ["but no watcher has a fresh beacon (last beat: ", "stale-beacon"],
  ["clock skew (last beat: ", "clock-skew"],
  ["cannot be told (last beat: ", "watcher-unknown"],
];

function bannerWord(lines: readonly string[]): string {
  if (lines[0]?.startsWith("●  WORKTREE TANGLE - PRIMARY CHECKOUT IS ON A FEATURE BRANCH")) {
    return "tangle";
  }
  if (lines[0] !== "●  WATCHER DOWN - SUPERVISION IS OFF") return lines.join("\n");
  return CAUSES.find(([cause]) => lines[1]?.includes(cause))?.[1] ?? lines.join("\n");
}

function lineWord(line: string): string {
  if (line.startsWith("WARNING: watcher still down (same stale episode; last beat: ")) {
    return "reminder";
  }
  if (line.startsWith("WARNING: queued wakes pending - drain them with ")) return "queue";
  if (line.startsWith("WARNING: queued wakes pending - left untouched, ")) return "queue untouched";
  if (line.startsWith("NOTE: all queued wakes ") && line.includes("branch")) return "branch";
  if (line.startsWith("NOTE: last turn-end adapter failure: ")) return "adapter";
  return line;
}

async function says(
  home: TestHome,
  expected: string,
  model = "persistent",
  env: Variables = {},
): Promise<void> {
  assertEquals(saidBy(await warn(home, model, env)), expected);
}

function needing(): TestHome {
  return makeHome({ git: "none" }).task("task");
}

function textOf(home: TestHome, name: string): string | undefined {
  try {
    return Deno.readTextFileSync(home.path(name));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

function repairOf({ stderr }: RunResult): string {
  const lines = stderr.split("\n");
  return lines[lines.lastIndexOf(RULE_LINE) - 1] ?? "";
}

Deno.test("warn: without need the lapse is forgotten and nothing is said (G1)", async () => {
  await using home = makeHome({ git: "none" });
  home.write(EPISODE, "no-watcher\n").write("state/.wake-queue", "1\t1\tcheck\tk\tp\n");
  await says(home, "silent");
  assertEquals(textOf(home, EPISODE), undefined);
});

Deno.test("warn: the full banner, line by line (G2)", async () => {
  await using home = needing();
  const { status, stdout, stderr } = await warn(home);
  assertEquals([status, stdout], [0, ""]);
  assertEquals(stderr.split("\n"), [
    RULE_LINE,
    "●  WATCHER DOWN - SUPERVISION IS OFF",
    "●  1 task(s) in flight, but no watcher has a fresh beacon (last beat: never, grace 999s).",
    "●  Trust the emitted supervision protocol and follow it; never start the watcher with a shell &.",
    "●  This is a supervision warning only; the guarded operation WILL still run.",
    "●  repair missing watcher supervision according to the session-start block for this harness " +
    "before ending the turn; do not use shell &.",
    RULE_LINE,
    "",
  ]);
  assertEquals(textOf(home, EPISODE), "stale-beacon\n");
});

Deno.test("warn: the second call reminds of the same lapse (G3)", async () => {
  await using home = needing();
  await says(home, "stale-beacon");
  assertEquals(
    (await warn(home)).stderr,
    "WARNING: watcher still down (same stale episode; last beat: never, grace 999s) - full banner " +
      "already printed this episode.\n",
  );
  assertEquals(textOf(home, EPISODE), "stale-beacon\n");
});

Deno.test("warn: a lapse keeps its key while the beacon moves, and a new reason is a new one (G4, G5, G6)", async () => {
  await using home = needing();
  await says(home.beat(1), "no-watcher");
  await says(home.beat(0), "reminder");
  await says(home.beat(2_000), "stale-beacon");
  assertEquals(textOf(home, EPISODE), "stale-beacon\n");
});

Deno.test("warn: a healthy watcher ends the lapse, and the next one is told in full (G7, G8)", async () => {
  await using home = needing();
  await says(home, "stale-beacon");
  const watcher = await home.watcher();
  await says(home, "silent");
  assertEquals(textOf(home, EPISODE), undefined);
  await watcher.end();
  home.remove("state/.last-watcher-beat");
  await says(home, "stale-beacon");
});

Deno.test("warn: of many calls at once exactly one announces the lapse (G9)", async () => {
  await using home = needing();
  const results = await Promise.all(Array.from({ length: 30 }, () => warn(home)));
  const words = results.map(saidBy);
  assertEquals(words.filter((word) => word === "stale-beacon").length, 1);
  assertEquals(words.filter((word) => word === "reminder").length, 29);
  const left = [...Deno.readDirSync(home.state)].map(({ name }) => name).sort();
  assertEquals(left, [".guard-watcher-stale-banner", "task.meta"]);
});

Deno.test("warn: each home has its own lapse (G10)", async () => {
  await using one = needing();
  await using other = needing();
  await says(one, "stale-beacon");
  await says(other, "stale-beacon");
  await says(one, "reminder");
});

Deno.test("warn: queued wakes are told of beside a reminder, a banner and good health (G11, G12, G33)", async () => {
  await using home = needing();
  await says(home, "stale-beacon");
  home.write("state/.wake-queue", "no row\n");
  await says(home, "reminder, queue");
  home.write("state/.wake-queue", "1\t4\tsignal\tk\tp\n");
  await home.watcher();
  await says(home, "queue");
  home.write("state/.wake-queue");
  await says(home, "silent");
});

Deno.test("warn: read-only prints in full, changes nothing, and leaves the lapse to others (G13)", async () => {
  await using home = needing();
  const before = snapshot(home.folder);
  for (const yes of ["1", "true", "TRUE", "yes", "YES"]) {
    await says(home, "stale-beacon", "persistent", { FM_GUARD_READ_ONLY: yes });
  }
  assertEquals(snapshot(home.folder), before);
  await says(home, "stale-beacon");
  await says(home, "reminder", "persistent", { FM_GUARD_READ_ONLY: "True" });
});

Deno.test("warn: read-only reminds of a recorded lapse and keeps the record (G14, G15)", async () => {
  await using home = needing();
  home.write(EPISODE, "stale-beacon\n");
  const before = snapshot(home.folder);
  await says(home, "reminder", "persistent", READ_ONLY);
  assertEquals(snapshot(home.folder), before);
  await home.watcher();
  await says(home, "silent", "persistent", READ_ONLY);
  home.remove("state/task.meta");
  await says(home, "silent", "persistent", READ_ONLY);
  assertEquals(textOf(home, EPISODE), "stale-beacon\n");
});

Deno.test("warn: read-only never makes a state directory", async () => {
  await using home = makeHome({ git: "none" });
  home.remove("state");
  await says(home, "silent", "persistent", READ_ONLY);
  await says(home, "silent");
  assertEquals(textOf(home, "state"), undefined);
});

Deno.test("warn: a read-only banner reports and repairs nothing", async () => {
  await using home = needing();
  home.write("state/.wake-queue", "1\t4\tsignal\tk\tp\n");
  const result = await warn(home, "persistent", READ_ONLY);
  assertEquals(saidBy(result), "stale-beacon, queue untouched");
  assertStringIncludes(result.stderr, "report this lapse, do not repair it");
  assertStringIncludes(repairOf(result), "session holding the fleet lock");
  assertStringIncludes(result.stderr, "no verified lock ownership");
});

/** What needs supervision, and how line 3 of the banner begins; `undefined` is silence. */
const NEEDS: ReadonlyArray<readonly [name: string, (home: TestHome) => TestHome, string?]> = [
  ["relay (G16)", (home) => home.relay(), "X-mode relay polling needs supervision"],
  ["source (G17)", (home) => home.source("a"), "1 process-event source(s) registered"],
  ["check (G18)", (home) => home.check("c"), "1 registered custom check(s)"],
  ["check without trust (G19)", (home) => home.check("c", "untrusted")],
];

Deno.test("warn: the banner names the need (G16, G17, G18, G19)", async () => {
  for (const [name, arrange, need] of NEEDS) {
    await using home = arrange(makeHome({ git: "none" }));
    const result = await warn(home);
    if (need === undefined) assertEquals(saidBy(result), "silent", name);
    else assert(result.stderr.split("\n")[2]?.startsWith(`●  ${need}, but `), result.stderr);
  }
});

Deno.test("warn: extension evidence is nothing to a persistent home (G20)", async () => {
  await using home = needing().beat(1);
  writeFamily(home, "pi", openSession(home));
  await says(home, "no-watcher", "persistent");
});

Deno.test("warn: an autoarm home needs no watcher but a fresh beacon (G21, G22)", async () => {
  await using home = needing();
  await says(home, "stale-beacon", "autoarm");
  await says(home.beat(1), "silent", "autoarm");
});

/** A session that holds the home's lock. */
function openSession(home: TestHome): Sleeper {
  const session = home.sleeper();
  home.write("state/.lock", `${session.pid}\n`);
  return session;
}

/** A turn that a wake was handed to: beacon long stale, ledger younger, marker of its stretch. */
function handlingTurn(home: TestHome): Sleeper {
  const session = openSession(home);
  home.write("state/.watcher-down", "pending:handling:g1\n").beat(1_000);
  writeLedger(home, { session_pid: String(session.pid) });
  return session;
}

function writeLedger(home: TestHome, changes: Readonly<Record<string, string>>): void {
  const words = {
    epoch: "7",
    owner_pid: "51400",
    outcome: "rewake",
    updated_at: "1790000900",
    session_pid: "",
    recovery_generation: "g1",
    ...changes,
  };
  const line = Object.entries(words).map(([key, value]) => `${key}=${value}`).join(" ");
  home.write("state/.claude-autoarm-epoch", `${line}\nidentity\n`);
}

Deno.test("warn: the turn that handles a wake may outlast the grace (G23)", async () => {
  await using home = needing();
  handlingTurn(home);
  await says(home, "silent", "autoarm");
  await says(home, "stale-beacon", "persistent");
});

type Arrange = (home: TestHome, session: Sleeper) => unknown;

const BROKEN_TURNS: ReadonlyArray<readonly [what: string, Arrange]> = [
  ["failure notified", (home) => home.write("state/.claude-autoarm-failure-notified")],
  ["failure alarmed", (home) => home.write("state/.claude-autoarm-failure-alarmed")],
  [
    "outcome arming",
    (home, { pid }) => writeLedger(home, { outcome: "arming", session_pid: String(pid) }),
  ],
  ["session dead", (_home, session) => session.end()],
  ["other session_pid", (home) => writeLedger(home, { session_pid: "1" })],
  ["other generation", (home) => home.write("state/.watcher-down", "pending:handling:g2\n")],
  ["invalid marker", (home) => home.write("state/.watcher-down", "pending:handling:g1")],
  ["no marker", (home) => home.remove("state/.watcher-down")],
  ["beacon newer than ledger", (home) => {
    home.beat(1_000);
    const second = Math.floor(Date.now() / 1000) - 2_000;
    Deno.utimeSync(home.path("state/.claude-autoarm-epoch"), second, second);
  }],
  ["no beacon", (home) => home.remove("state/.last-watcher-beat")],
  ["no ledger, as in a Cursor home (G25)", (home) => home.remove("state/.claude-autoarm-epoch")],
];

Deno.test("warn: each broken part of a handling turn's evidence is a lapse (G24, G25)", async () => {
  const actual = await tabulate(BROKEN_TURNS, ([what]) => what, async ([, arrange]) => {
    await using home = needing();
    const session = handlingTurn(home);
    await arrange(home, session);
    return saidBy(await warn(home, "autoarm"));
  });
  assertEquals(actual, Object.fromEntries(BROKEN_TURNS.map(([what]) => [what, "stale-beacon"])));
});

const FAMILIES = {
  pi: {
    watch: ".pi/extensions/fm-primary-pi-watch.ts",
    turnEnd: ".pi/extensions/fm-primary-turnend-guard.ts",
    watchMarker: "state/.pi-watch-extension-loaded",
    turnEndMarker: "state/.pi-turnend-extension-loaded",
    generation: "generation=2 phase=active\n",
  },
  omp: {
    watch: ".omp/extensions/fm-primary-omp-watch.ts",
    turnEnd: ".omp/extensions/fm-primary-turnend-guard.ts",
    watchMarker: "state/.omp-watch-extension-loaded",
    turnEndMarker: "state/.omp-turnend-extension-loaded",
    generation: "",
  },
} as const;

/** Both extensions of a family, loaded by a session. */
function writeFamily(home: TestHome, name: keyof typeof FAMILIES, { pid }: Sleeper): void {
  const { watch, turnEnd, watchMarker, turnEndMarker, generation } = FAMILIES[name];
  for (
    const [file, marker, line] of [[watch, watchMarker, generation], [
      turnEnd,
      turnEndMarker,
      "",
    ]] as const
  ) {
    home.write(file, `// ${file}\n`);
    const digest = createHash("sha256").update(Deno.readFileSync(home.path(file))).digest("hex");
    home.write(marker, `sha256:${digest}\n${pid}\n${line}`);
  }
}

/** A home between two watchers of Pi's extension. */
function betweenWatchers(): { readonly home: TestHome; readonly session: Sleeper } {
  const home = needing().beat(1);
  const session = openSession(home);
  writeFamily(home, "pi", session);
  return { home, session };
}

Deno.test("warn: an owning extension vouches for the time between two watchers (G26, G27, G33)", async () => {
  const { home, session } = betweenWatchers();
  await using _home = home;
  await says(home, "silent", "extension");
  Deno.mkdirSync(home.path("state/.watch.lock"));
  await says(home, "silent", "extension");
  assertEquals(textOf(home, EPISODE), undefined);
  home.write("state/.wake-queue", "1\t4\tsignal\tk\tp\n");
  await says(home, "queue", "extension");
  await session.end();
  await says(home, "no-watcher, queue", "extension");
});

const HELD_LOCKS: ReadonlyArray<readonly [what: string, LockOverrides]> = [
  ["malformed", { pid: "not-a-pid\n" }],
  ["wrong home", { home: "/other" }],
  ["wrong path", { watcherPath: "/other" }],
  ["wrong identity", { identity: "another\n" }],
  ["no identity", { identity: null }],
];

Deno.test("warn: a lock that still names somebody is no handover (G28)", async () => {
  const actual = await tabulate(HELD_LOCKS, ([what]) => what, async ([, overrides]) => {
    const { home } = betweenWatchers();
    await using _home = home;
    await home.watcher(1, overrides);
    return saidBy(await warn(home, "extension"));
  });
  assertEquals(actual, Object.fromEntries(HELD_LOCKS.map(([what]) => [what, "no-watcher"])));
  const { home } = betweenWatchers();
  await using _home = home;
  await home.recordWatcher(home.sleeper().pid, { pid: `${await deadPid()}\n` });
  await says(home, "no-watcher", "extension");
});

const { pi } = FAMILIES;

const BROKEN_FAMILIES: ReadonlyArray<readonly [what: string, Arrange]> = [
  ["session dead", (_home, session) => session.end()],
  ["no session lock", (home) => home.remove("state/.lock")],
  ["watch marker missing", (home) => home.remove(pi.watchMarker)],
  ["turn-end marker missing", (home) => home.remove(pi.turnEndMarker)],
  ["watch extension changed", (home) => home.write(pi.watch, "// other\n")],
  ["turn-end extension changed", (home) => home.write(pi.turnEnd, "// other\n")],
  ["watch extension missing", (home) => home.remove(pi.watch)],
  ["phase handoff", (home) => replaceIn(home, pi.watchMarker, "active", "handoff")],
  ["no third line", (home) => replaceIn(home, pi.watchMarker, pi.generation, "")],
  ["generation 0", (home) => replaceIn(home, pi.watchMarker, "generation=2", "generation=0")],
  [
    "loaded by another session",
    (home, { pid }) => replaceIn(home, pi.turnEndMarker, `\n${pid}\n`, "\n1\n"),
  ],
];

function replaceIn(home: TestHome, name: string, from: string, to: string): void {
  const text = textOf(home, name) ?? "";
  assertStringIncludes(text, from);
  home.write(name, text.replace(from, to));
}

Deno.test("warn: each broken part of an extension's evidence is a lapse (G29)", async () => {
  const actual = await tabulate(BROKEN_FAMILIES, ([what]) => what, async ([, arrange]) => {
    const { home, session } = betweenWatchers();
    await using _home = home;
    await arrange(home, session);
    return saidBy(await warn(home, "extension"));
  });
  assertEquals(actual, Object.fromEntries(BROKEN_FAMILIES.map(([what]) => [what, "no-watcher"])));
});

Deno.test("warn: an extension without a fresh beacon vouches for nothing (G30)", async () => {
  const { home } = betweenWatchers();
  await using _home = home;
  home.remove("state/.last-watcher-beat");
  await says(home, "stale-beacon", "extension", { FM_GUARD_GRACE: "1" });
});

Deno.test("warn: a live watcher needs no extension (G31)", async () => {
  await using home = needing();
  await home.watcher();
  await says(home, "silent", "extension");
});

Deno.test("warn: one complete family is enough, and halves of two are not (G32)", async () => {
  for (const [whole, broken] of [["omp", "pi"], ["pi", "omp"]] as const) {
    await using home = needing().beat(1);
    const session = openSession(home);
    writeFamily(home, whole, session);
    writeFamily(home, broken, session);
    home.remove(FAMILIES[broken].turnEndMarker);
    await says(home, "silent", "extension");
    home.remove(FAMILIES[whole].watchMarker);
    await says(home, "no-watcher", "extension");
  }
});

const CLAUDE = { GEMINI_CLI: undefined, CLAUDECODE: "1" };

/**
 * How the model is found. With a fresh beacon and no watcher an autoarm home is silent, and with
 * complete omp evidence an extension home is as well; a persistent one is not.
 */
const DETECTED: ReadonlyArray<
  readonly [what: string, model: string, env: Variables, repair: string]
> = [
  ["a word that is no model (G34)", "bogus", CLAUDE, "Stop-owned automatic recovery"],
  ["Cursor over Claude (G35)", "", { ...CLAUDE, CURSOR_AGENT: "1" }, "stop-hook park"],
  ["omp's variable without omp (G50)", "", { ...CLAUDE, FM_OMP_HARNESS: "omp" }, "Stop-owned"],
];

Deno.test("warn: without a valid model the harness decides (G34, G35, G50)", async () => {
  for (const [what, model, env, repair] of DETECTED) {
    await using home = needing().beat(1);
    assertEquals(saidBy(await warn(home, model, env)), "silent", what);
    assertStringIncludes(repairOf(await warn(home.beat(2_000), model, env)), repair, what);
  }
});

Deno.test("warn: omp's variable counts below a process of that name", async () => {
  await using home = needing().beat(1);
  writeFamily(home, "omp", openSession(home));
  const call = below([namedShell(home.folder, "omp")], [TURNGUARD, "warn", ...home.args]);
  const env = variables(home, "", { GEMINI_CLI: undefined, FM_OMP_HARNESS: "omp" });
  assertEquals(saidBy(await runProgram(call, { env })), "silent");
  home.remove(FAMILIES.omp.watchMarker);
  const down = await runProgram(call, { env });
  assertEquals(saidBy(down), "no-watcher");
  assertStringIncludes(repairOf(down), "omp tool fm_watch_arm_omp");
});

Deno.test("warn: a malformed grace counts as unset, and the banner says so (G51)", async () => {
  await using home = needing();
  const watcher = await home.watcher(200);
  const grace = { FM_GUARD_GRACE: "abc", FM_POLL: "x" };
  await says(home, "silent", "persistent", grace);
  await watcher.end();
  const { stderr } = await warn(home.beat(400), "persistent", grace);
  assertMatch(stderr, /\(last beat: [0-9]+s ago, grace 300s\)/);
  assertStringIncludes(stderr, '●  FM_GUARD_GRACE="abc" is not a whole number; 300 s is used.');
  assert(!stderr.includes("FM_POLL"), stderr);
});

/** First line of `.afk`, and how the repair begins. */
const AWAY: ReadonlyArray<readonly [afk: string, repair: string]> = [
  ["quiet\n", "●  Quiet mode owns watcher supervision; load /quiet"],
  ["1790000000\n", "●  Away mode owns watcher supervision; load /afk"],
  ["away\n", "●  Away mode owns watcher supervision; load /afk"],
];

Deno.test("warn: away mode and its daemon change the repair alone (G36, G37, G38)", async () => {
  for (const [afk, repair] of AWAY) {
    await using home = needing().beat(2_000).away(afk);
    await home.daemon();
    const result = await warn(home);
    assertEquals(saidBy(result), "stale-beacon");
    assert(repairOf(result).startsWith(repair), result.stderr);
  }
});

/** Rows 4 and 5, granted to another process. */
async function grant(home: TestHome, owner: number, identity?: string): Promise<void> {
  home.write("state/.wake-queue", "1\t4\tsignal\tk\tp\n1\t5\tsignal\tl\tp\n");
  home.write("state/.branch-eligible-rows", "4\n5\n");
  home.write(
    "state/.branch-eligible-owner",
    `fm-branch-eligible-owner-v1\n${owner}\n${identity ?? await identityOf(owner)}\ng.1\n`,
  );
}

Deno.test("warn: wakes that a living branch holds are left to it (G39)", async () => {
  await using home = needing();
  await home.watcher();
  await grant(home, home.sleeper().pid);
  await says(home, "branch");
  home.write("state/.branch-eligible-rows", "4\n");
  await says(home, "queue");
});

Deno.test("warn: a grant whose owner is gone holds no wake (G40)", async () => {
  await using home = needing();
  await home.watcher();
  await grant(home, await deadPid(), "linux-starttime=1 cmdline-hex=61");
  await says(home, "queue");
});

const CANNOT_CHANGE_USER = asOtherUser([]) === undefined;

Deno.test({
  name: "warn: a queue that cannot be read may hold a wake (G41)",
  ignore: CANNOT_CHANGE_USER,
  fn: async () => {
    await using home = needing();
    home.write("state/.wake-queue", "1\t4\tsignal\tk\tp\n");
    Deno.chmodSync(home.path("state/.wake-queue"), 0o000);
    await saysAsOther(home, "stale-beacon, queue");
  },
});

Deno.test({
  name: "warn: where nothing can be recorded every call announces the lapse (G47)",
  ignore: CANNOT_CHANGE_USER,
  fn: async () => {
    await using home = needing();
    const before = snapshot(home.folder);
    await saysAsOther(home, "stale-beacon");
    await saysAsOther(home, "stale-beacon");
    assertEquals(snapshot(home.folder), before);
  },
});

Deno.test({
  name: "warn: a state directory that cannot be listed leaves the need unknown, and says so",
  ignore: CANNOT_CHANGE_USER,
  fn: async () => {
    await using home = needing();
    Deno.chmodSync(home.state, 0o711);
    const call = asOtherUser([TURNGUARD, "warn", ...home.args]) ?? [];
    const result = await runProgram(call, { env: variables(home, "persistent") });
    assertEquals([result.status, result.stdout], [0, ""]);
    assertStringIncludes(result.stderr, "WARNING: cannot tell whether this home needs supervision");
  },
});

async function saysAsOther(home: TestHome, expected: string): Promise<void> {
  const call = asOtherUser([TURNGUARD, "warn", ...home.args]) ?? [];
  const result = await runProgram(call, { env: variables(home, "persistent") });
  assertEquals(saidBy(result), expected);
}

/** A checkout of `main`, with the watcher's script of a fleet. */
function fleetHome(head: string): TestHome {
  return makeHome().write("bin/fm-watch.sh", "#!/bin/sh\n")
    .write(".git/refs/heads/main", `${"0".repeat(40)}\n`)
    .write(".git/HEAD", `${head}\n`);
}

Deno.test("warn: a primary checkout on a feature branch is told of without any need (G42)", async () => {
  await using home = fleetHome("ref: refs/heads/fm/x");
  const result = await warn(home);
  assertEquals(saidBy(result), "tangle");
  assertStringIncludes(result.stderr, `${home.root} is on branch fm/x`);
  assertStringIncludes(result.stderr, "The work is safe on the branch ref fm/x");
  assertStringIncludes(result.stderr, `git -C ${home.root} checkout main`);
  assertEquals((await warn(home)).stderr, result.stderr);
  const readOnly = await warn(home, "persistent", READ_ONLY);
  assertEquals(saidBy(readOnly), "tangle");
  assert(!readOnly.stderr.includes("git -C"), readOnly.stderr);
  assertStringIncludes(readOnly.stderr, "verified lock ownership");
  await says(home.task(), "tangle, stale-beacon");
});

Deno.test("warn: a detached checkout and the default branch are no tangle (G43)", async () => {
  for (const head of ["0".repeat(40), "ref: refs/heads/main"]) {
    await using home = fleetHome(head);
    await says(home, "silent");
  }
});

Deno.test("warn: a home without a fleet's scripts has to ask for the tangle alarm", async () => {
  await using home = fleetHome("ref: refs/heads/fm/x");
  home.remove("bin/fm-watch.sh");
  await says(home, "silent");
  await says(home, "tangle", "persistent", { TURNGUARD_TANGLE: "1" });
});

Deno.test("warn: the repair begins with the queue and the relay's settings (G44)", async () => {
  await using home = needing();
  home.write("state/.wake-queue", "1\t4\tsignal\tk\tp\n").write("config/x-mode.env");
  const result = await warn(home, "autoarm", CLAUDE);
  assert(
    repairOf(result).startsWith(
      `●  After draining queued wakes, source '${home.path("config/x-mode.env")}' first, then `,
    ),
    result.stderr,
  );
});

Deno.test("warn: Codex is told the length of its checkpoint (G45)", async () => {
  await using home = needing();
  const call = below([namedShell(home.folder, "codex")], [TURNGUARD, "warn", ...home.args]);
  const env = variables(home, "persistent", {
    GEMINI_CLI: undefined,
    FM_CODEX_WATCH_CHECKPOINT: "7",
  });
  assertStringIncludes(repairOf(await runProgram(call, { env })), "--seconds 7");
});

Deno.test("warn: a lock that another process keeps costs the record, never the banner (G46)", async () => {
  await using home = needing();
  home.write(EPISODE, "no-watcher\n").write(`${EPISODE_LOCK}/pid`, `${home.sleeper().pid}\n`);
  await says(home, "stale-beacon");
  assertEquals(textOf(home, EPISODE), "no-watcher\n");
});

Deno.test("warn: a lock whose holder is gone is taken over", async () => {
  await using home = needing();
  home.write(`${EPISODE_LOCK}/pid`, `${await deadPid()}\n`);
  await says(home, "stale-beacon");
  await says(home, "reminder");
  assertEquals(textOf(home, `${EPISODE_LOCK}/pid`), undefined);
});

Deno.test("warn: a directory in the record's place costs the record, never the banner", async () => {
  await using home = needing();
  Deno.mkdirSync(home.path(EPISODE));
  await says(home, "stale-beacon");
  await says(home, "stale-beacon");
  await home.watcher();
  await says(home, "silent");
  assert(Deno.statSync(home.path(EPISODE)).isDirectory);
});

Deno.test("warn: a live watcher that stopped beating is named by its true age (G48)", async () => {
  await using home = needing();
  await home.watcher(86_400);
  const result = await warn(home);
  assertEquals(saidBy(result), "stale-beacon");
  const age = Number(/last beat: ([0-9]+)s ago, grace 999s/.exec(result.stderr)?.[1]);
  const beat = Deno.lstatSync(home.path("state/.last-watcher-beat")).mtime?.getTime() ?? 0;
  assert(age >= 86_400 && age <= Math.floor(Date.now() / 1000) - beat / 1000, result.stderr);
});

Deno.test("warn: a beacon from the future is believed within the skew, then has its own reason (G49)", async () => {
  await using home = needing();
  const watcher = await home.watcher(-50);
  await says(home, "silent", "autoarm");
  await says(home, "silent", "persistent");
  home.beat(-10_000);
  await says(home, "clock-skew", "autoarm");
  await says(home, "reminder", "persistent");
  await watcher.end();
  await says(home, "reminder", "extension");
  assertEquals(textOf(home, EPISODE), "clock-skew\n");
});

Deno.test("warn: a watcher that cannot be told from another process is named as unknown", async () => {
  await using home = needing().beat(1);
  await using zombie = await startZombie();
  await home.recordWatcher(zombie.pid, { identity: "linux-starttime=1 cmdline-hex=61\n" });
  await says(home, "watcher-unknown");
  await says(home, "reminder", "extension");
  await says(home, "silent", "autoarm");
});

Deno.test("warn: the continue line is the caller's where it has one, and steers no terminal", async () => {
  await using home = needing();
  const { stderr } = await warn(home, "persistent", {
    FM_GUARD_CONTINUE_LINE: "the message \u001b[2J\nWILL still be sent",
  });
  assertStringIncludes(stderr, "●  the message \\x1b[2J\\x0aWILL still be sent\n");
  assert(!stderr.includes("the guarded operation"), stderr);
});

Deno.test("warn: an adapter's failure is told while supervision is down, and then forgotten", async () => {
  await using home = needing();
  const record = "state/.turnguard-adapter-failure";
  home.write(record, `${Math.floor(Date.now() / 1000)}\tgrok\tno\tsession ${"x".repeat(300)}\n`);
  const down = await warn(home);
  assertEquals(saidBy(down), "stale-beacon, adapter");
  const note = down.stderr.split("\n").at(-2) ?? "";
  assertMatch(note, /failure: grok: no session x+… \([0-9]+s ago\)$/);
  await says(home, "reminder, adapter");
  await home.watcher();
  await says(home, "silent", "persistent", READ_ONLY);
  assert(textOf(home, record) !== undefined);
  await says(home, "silent");
  assertEquals(textOf(home, record), undefined);
});

Deno.test("warn: an adapter's record that is none is not told", async () => {
  for (const text of ["", "x\tgrok\tcause\n", "1790000000\tgrok\n", "1790000000\t\tcause\n"]) {
    await using home = needing().write("state/.turnguard-adapter-failure", text);
    await says(home, "stale-beacon");
  }
});

Deno.test("warn: the queue of the environment is the one that counts", async () => {
  await using home = needing();
  await home.watcher();
  home.write("queue", "1\t4\tsignal\tk\tp\n");
  await says(home, "queue", "persistent", { FM_WAKE_QUEUE: home.path("queue") });
});

Deno.test("warn: the drain that is named is the fleet's own where there is one", async () => {
  await using home = needing().write("state/.wake-queue", "1\t4\tsignal\tk\tp\n");
  await home.watcher();
  const line = (command: string) =>
    `WARNING: queued wakes pending - drain them with ${command} before anything else.\n`;
  const named = `turnguard wake drain --root ${home.root}`;
  assertEquals((await warn(home)).stderr, line(named));
  home.write("bin/fm-wake-drain.sh", "#!/bin/sh\n");
  assertEquals((await warn(home)).stderr, line("bin/fm-wake-drain.sh"));
});

Deno.test("warn: words after the mode are ignored", async () => {
  await using home = needing();
  const env = variables(home, "persistent");
  const result = await runTurnguard(["warn", ...home.args, "any", "words"], { env });
  assertEquals(saidBy(result), "stale-beacon");
});

Deno.test("warn: the output stays short, whatever the settings hold", async () => {
  await using home = fleetHome("ref: refs/heads/fm/x");
  for (let count = 0; count < 200; count++) home.task(`task${count}`);
  home.write("state/.wake-queue", "1\t4\tsignal\tk\tp\n");
  const { status, stderr } = await warn(home, "persistent", {
    FM_GUARD_GRACE: "x".repeat(5_000),
    FM_GUARD_CONTINUE_LINE: "y".repeat(20_000),
    FM_CONFIG_OVERRIDE: `/${"z".repeat(4_000)}`,
  });
  assertEquals(status, 0);
  assertStringIncludes(stderr, "200 task(s) in flight");
  assert(stderr.length < 8_000, String(stderr.length));
});

Deno.test("warn: nobody who listens changes nothing", async () => {
  await using home = needing();
  const script = '"$@" 2>&-; echo $?';
  const call = ["/bin/sh", "-c", script, "-", TURNGUARD, "warn", ...home.args];
  const { stdout } = await runProgram(call, { env: variables(home, "persistent") });
  assertEquals(stdout, "0\n");
});

Deno.test("warn: every home at once, each with its own words", async () => {
  const homes = Array.from({ length: 6 }, () => needing());
  try {
    const words = await inBatches(homes, async (home) => saidBy(await warn(home)), 6);
    assertEquals(words, homes.map(() => "stale-beacon"));
  } finally {
    await Promise.all(homes.map((home) => home[Symbol.asyncDispose]()));
  }
});
