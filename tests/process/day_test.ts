/**
 * A day of supervision in simulated time: thousands of cycles under kills, jumps of the clock and slow
 * checks, one watcher after the other, each in a process of its own.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { textOf } from "../support/files.ts";
import { makeHome, type TestHome } from "../support/home.ts";
import { until } from "../support/processes.ts";
import { runTurnguard } from "../support/turnguard.ts";
import type { Life, Report } from "./day_child.ts";

const CHILD = fromFileUrl(new URL("./day_child.ts", import.meta.url));

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Seconds of the watchers' poll, of the guard's grace, and of the deadline of a check. */
const POLL = 15;
const GRACE = 300;

const SETTINGS = {
  FM_POLL: String(POLL),
  FM_CHECK_INTERVAL: "1800",
  FM_CHECK_TIMEOUT: "5",
  FM_SIGNAL_GRACE: "30",
};

/** Random numbers that a seed decides, so that a day which fails can be played again. */
function dice(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
}

/** The next life, and what becomes of the clock and the tasks in it. */
function lifeOf(startMs: number, record: string, roll: (below: number) => number): Life {
  const killed = roll(3) === 0;
  const jumps = Array.from({ length: roll(3) }, () => {
    const by = [10 * MINUTE_MS, 3 * HOUR_MS, -20 * MINUTE_MS, 8 * HOUR_MS][roll(4)] ?? 0;
    return [roll(4 * HOUR_MS), by] as const;
  });
  return {
    startMs,
    killAfterMs: killed ? roll(3 * HOUR_MS) : Infinity,
    killSteps: roll(40),
    stopAfterMs: HOUR_MS + roll(5 * HOUR_MS),
    jumps: jumps.toSorted(([one], [other]) => one - other),
    reports: roll(2) === 0 ? [] : [roll(3 * HOUR_MS)],
    settings: SETTINGS,
    record,
  };
}

interface Lived {
  /** `undefined` for one that was killed. */
  readonly report: Report | undefined;
  readonly beats: readonly number[];
  readonly descriptors: readonly number[];
}

/** A second watcher beside one that runs: it leaves without a beat, or the first was over by then. */
async function rival(home: TestHome, first: Life): Promise<Lived> {
  const life = { ...first, record: `${first.record}.rival`, jumps: [], killAfterMs: Infinity };
  await until(() => textOf(first.record) !== "");
  return await live(home, life);
}

async function live(home: TestHome, life: Life): Promise<Lived> {
  Deno.writeTextFileSync(life.record, "");
  const { code, signal, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-check", "--allow-all", CHILD, home.root, encode(life)],
    stdin: "null",
  }).output();
  const errors = new TextDecoder().decode(stderr);
  assert(signal === "SIGKILL" || code === 0, errors);
  const rows = textOf(life.record).split("\n").slice(0, -1).map((line) =>
    line.split(" ").map(Number)
  );
  return {
    report: signal === "SIGKILL" ? undefined : JSON.parse(new TextDecoder().decode(stdout)),
    beats: rows.map(([awakeMs]) => awakeMs ?? 0),
    descriptors: rows.map(([, count]) => count ?? 0),
  };
}

/** JSON has no infinity; a moment that never comes is one after everything. */
function encode(life: Life): string {
  return JSON.stringify(life, (_, value) => value === Infinity ? Number.MAX_SAFE_INTEGER : value);
}

/** What a hung check runs; no other process of this machine has that command line. */
const HUNG = `sleep 6${Deno.pid}`;

/** A check that takes long, hangs, leaves something behind, or has something to say. */
async function addChecks(home: TestHome): Promise<void> {
  const scripts = {
    slow: "sleep 0.01",
    hung: `${HUNG} & ${HUNG}`,
    chatty: `[ -e '${home.path("said")}' ] || { : >'${home.path("said")}'; echo something; }`,
  };
  for (const [id, script] of Object.entries(scripts)) {
    home.write(`state/${id}.check.sh`, `${script}\n`);
    Deno.chmodSync(home.path(`state/${id}.check.sh`), 0o700);
    assertEquals((await runTurnguard(["check-register", id, ...home.args])).status, 0);
  }
}

/** What must not be there when nobody watches any more. */
function litter(home: TestHome): readonly string[] {
  return [...Deno.readDirSync(home.state)].map(({ name }) => name)
    .filter((name) => /^\.fm-|\.tmp\.|\.lock$|\.owner\.|\.steal|\.watch-arm-output/.test(name));
}

/** Processes whose command line names this home, or that a check of it left. */
function leftRunning(home: TestHome): readonly string[] {
  return [...Deno.readDirSync("/proc")].map(({ name }) => name)
    .filter((name) => /^[0-9]+$/.test(name))
    .map((name) => textOf(`/proc/${name}/cmdline`).replaceAll("\0", " "))
    .filter((words) => words.includes(home.root) || words === `${HUNG} `);
}

/** Longest time in seconds between two beats of one life. */
function longestGap(beats: readonly number[]): number {
  return beats.reduce(
    (longest, beat, index) => Math.max(longest, beat - (beats[index - 1] ?? beat)),
    0,
  ) / 1000;
}

/** A few lives an hour are enough; more would only be slower. */
const FULL = Deno.env.get("TURNGUARD_FULL") === "1";

Deno.test("a day of supervision has no gap, no second watcher and no leak", async (context) => {
  for (const seed of FULL ? [1, 2, 3, 4, 5] : [20_261_201]) {
    await context.step(`seed ${seed}`, async () => await playDay(seed));
  }
});

async function playDay(seed: number): Promise<void> {
  await using home = makeHome().task();
  await addChecks(home);
  const roll = dice(seed);
  const record = `${home.folder}/beats`;
  const kinds = new Map<string, number>();
  let cycles = 0;
  let awakeMs = 0;
  let wallMs = Date.now();
  let wasKilled = false;
  while (awakeMs < DAY_MS) {
    const life = lifeOf(wallMs, record, roll);
    let over = false;
    const living = live(home, life).finally(() => over = true);
    if (roll(4) === 0) {
      const second = await rival(home, life);
      const left = second.report?.kind === "already-running" && second.beats.length === 0;
      assert(left || over, `a second watcher: ${JSON.stringify(second.report)}`);
    }
    const lived = await living;
    const { report, beats, descriptors } = lived;
    wasKilled = report === undefined;
    const kind = report === undefined ? "killed" : `${report.kind} ${report.reason}`.slice(0, 20);
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    // Whoever comes after a watcher holds the lock at once, however that one ended.
    assert(beats.length > 0 || life.killAfterMs < MINUTE_MS, `${kind}: never beat`);
    assert(longestGap(beats) <= GRACE + POLL, `${kind}: ${longestGap(beats)} s without a beat`);
    assert(
      Math.max(0, ...descriptors) - (descriptors[0] ?? 0) <= SPARE_DESCRIPTORS,
      `${kind}: descriptors grow: ${descriptors[0]} to ${Math.max(...descriptors)}`,
    );
    cycles += beats.length;
    const livedMs = report?.awakeMs ?? beats.at(-1) ?? 0;
    wallMs = (report?.wallMs ?? life.startMs + livedMs) + 1_000 + roll(MINUTE_MS);
    awakeMs += livedMs + 1_000;
  }
  // One quiet life more, in which what the killed ones left is found.
  for (const id of ["slow", "hung", "chatty"]) home.remove(`state/${id}.check.sh`);
  const last = { ...lifeOf(wallMs + HOUR_MS, record, roll), ...QUIET };
  if (wasKilled) {
    const { report } = await live(home, last);
    const told = report?.kind === "stopped" || report?.reason === "check: rearm-resurface";
    assert(told, `after a kill its gap is told, and nothing else: ${JSON.stringify(report)}`);
  }
  const quiet = { ...last, startMs: last.startMs + HOUR_MS };
  assertEquals((await live(home, quiet)).report?.kind, "stopped");
  assert(kinds.get("killed") !== undefined && kinds.size > 3, [...kinds.keys()].join());
  assert(cycles > DAY_MS / 1000 / POLL / 2, `${cycles} cycles`);
  assertEquals([litter(home), leftRunning(home)], [[], []]);
}

/** A life in which nothing happens. */
const QUIET = {
  killAfterMs: Infinity,
  stopAfterMs: 20 * MINUTE_MS,
  jumps: [],
  reports: [],
  settings: { ...SETTINGS, FM_HEARTBEAT: "99999" },
} satisfies Partial<Life>;

/** Descriptors that a check's pipes and notices of change take for a while. */
const SPARE_DESCRIPTORS = 12;
