/**
 * Parks that take each other's place at random moments.
 *
 * Each race has a home of its own, two to four stops, and one thing that happens once all of them have
 * claimed. Whatever the order was, the park that claimed last tells it, once, and the others say nothing.
 * `TURNGUARD_SEED` plays the races of a failure again; `TURNGUARD_FULL=1` plays all of them.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { type Hook, isRunning, processesOf, writeArm } from "../support/claude_session.ts";
import { BATON, type CursorHome, makeCursorHome, REPAIRS, saidBy } from "../support/cursor_home.ts";
import { textOf } from "../support/files.ts";
import { until } from "../support/processes.ts";
import { inBatches } from "../support/turnguard.ts";

const RACES = 200;
const FULL = Deno.env.get("TURNGUARD_FULL") === "1";
const PLAYED = FULL ? RACES : RACES / 8;
const SEED = Number(
  Deno.env.get("TURNGUARD_SEED") ?? crypto.getRandomValues(new Uint32Array(1))[0],
);

const WAKE =
  /^watcher: firstmate watcher wake - one supervision event needs a handling turn now\.$/;
const NAG = /^turn-end-guard: TURN WOULD END BLIND - .* \(nag ([0-9]+) of 9\)\.$/;

/** Numbers from 0 to below 1, the same for the same seed. */
type Random = () => number;

function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function below(random: Random, limit: number): number {
  return Math.floor(random() * limit);
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

/** Starts parks with random pauses in between. */
async function startParks(
  home: CursorHome,
  random: Random,
  env: Readonly<Record<string, string>>,
): Promise<readonly Hook[]> {
  const hooks: Hook[] = [];
  for (let count = 2 + below(random, 3); count > 0; count--) {
    hooks.push(await home.start({ env }));
    await pause(below(random, 2) * below(random, 400));
  }
  return hooks;
}

/** The park that claimed last, once every one of them has claimed or ended. */
async function lastClaimant(home: CursorHome, hooks: readonly Hook[]): Promise<Hook> {
  await until(() => home.sequence() === hooks.length, 60_000);
  const pid = Number(/ pid=([0-9]+) /.exec(textOf(home.path(BATON)))?.[1]);
  const last = hooks.find((hook) => hook.pid === pid);
  assert(last !== undefined, `nobody is ${pid}`);
  return last;
}

/** One thing happens; `happen` makes it happen. */
async function wakeRace(home: CursorHome, random: Random, happen: () => void): Promise<void> {
  const hooks = await startParks(home, random, {});
  const last = await lastClaimant(home, hooks);
  await pause(below(random, 1_500));
  const victim = hooks[below(random, hooks.length)];
  const ended = random();
  const hit = victim !== undefined && victim !== last && ended < 0.4 && isRunning(victim.pid);
  if (hit) victim.signal(ended < 0.2 ? "SIGTERM" : "SIGKILL");
  happen();
  for (const hook of hooks) {
    const result = await hook.ended();
    if (hook === last) assertMatch(saidBy(result), WAKE);
    else assertEquals([result.stdout, result.stderr], ["", ""]);
  }
  // Nobody ends the arm of a park that was killed outright, but what it waited for has happened.
  if (hit && ended >= 0.2) await until(() => processesOf(home.home.root).length === 0);
  await assertTidy(home);
}

/** Every arm fails: each park that may still speak spends one repair, and no two the same. */
async function repairRace(home: CursorHome, random: Random): Promise<void> {
  writeArm(home.home, `sleep 0.${below(random, 3)}`, "exit 1");
  const hooks = await startParks(home, random, { FM_CURSOR_TURNEND_BLOCK_BUDGET: "9" });
  const last = await lastClaimant(home, hooks);
  const nags: string[] = [];
  for (const hook of hooks) {
    const said = saidBy(await hook.ended());
    if (said === "silent" && hook !== last) continue;
    assertMatch(said, NAG);
    nags.push(NAG.exec(said)?.[1] ?? "");
  }
  assertEquals(nags.toSorted(), nags.map((_, index) => String(index + 1)));
  assertEquals(textOf(home.path(REPAIRS)), `session=conv-1\ncount=${nags.length}\n`);
  await assertTidy(home);
}

/** Nothing of any park is left, but a lock's private folder of one that was killed. */
async function assertTidy(home: CursorHome): Promise<void> {
  const left = home.litter().filter((name) => !name.includes(".owner."));
  assertEquals(left, []);
  await until(() => textOf(home.path("state/.watch.lock/pid")) === "");
}

/** An arm that brings its wake when a file appears. */
const WAITING_ARM = ["while [ ! -e event ]; do sleep 0.05; done", "echo 'signal: /x/y.status'"];

type Race = (home: CursorHome, random: Random) => Promise<void>;

const KINDS: readonly (readonly [name: string, play: Race])[] = [
  ["own watcher", async (home, random) => {
    await wakeRace(home, random, () => home.home.write("state/task1.status", "done\n"));
  }],
  ["arm of the home", async (home, random) => {
    writeArm(home.home, ...WAITING_ARM);
    await wakeRace(home, random, () => home.home.write("event"));
  }],
  ["repair", repairRace],
];

Deno.test("park: random supersession races have one answer and leave nothing behind", async () => {
  const numbers = Array.from({ length: PLAYED }, (_, index) => index);
  const failures = await inBatches(numbers, async (number) => {
    const [name, play] = KINDS[number % KINDS.length] ?? ["repair", repairRace];
    try {
      const home = await makeCursorHome();
      await using _home = home;
      await play(home, randomFrom(SEED + number));
      return undefined;
    } catch (error) {
      const because = error instanceof Error ? `${error.message}\n${error.stack}` : String(error);
      return `race ${number} (${name}): ${because}`;
    }
  }, 6);
  const failed = failures.filter((failure) => failure !== undefined);
  assertEquals(failed, [], `TURNGUARD_SEED=${SEED} plays these races again`);
});
