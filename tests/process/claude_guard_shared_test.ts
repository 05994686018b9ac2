/**
 * Many guards over one home: two deliveries of one stop, crowds, crashes, and the host's own cap.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  ALARM,
  BUDGET,
  BUDGET_LOCK,
  type GuardHome,
  type GuardRow,
  guardVerdict,
  makeGuardHome,
  OWNER_LOCK,
  playRows,
} from "../support/claude_home.ts";
import { STOP_PAYLOAD } from "../support/claude_session.ts";
import { exists, textOf } from "../support/files.ts";
import { expectedOf } from "../support/rows.ts";
import { inBatches, TURNGUARD } from "../support/turnguard.ts";

function table(name: string, rows: readonly GuardRow[]): void {
  Deno.test(`claude guard: ${name}`, async () => {
    assertEquals(await playRows(rows), expectedOf(rows));
  });
}

/** Forks everything first and lets it go together: the kernel's start of each is before any charge. */
const CROWD = `
folder=$1 count=$2; shift 2
mkfifo "$folder/gate"; exec 3<>"$folder/gate"
for ((i = 0; i < count; i++)); do
  (read -r -n 1 -u 3 _; exec "$@" <"$folder/$i.in" >"$folder/$i.out" 2>"$folder/$i.err" 3>&-) &
  pids[i]=$!
done
for ((i = 0; i < count; i++)); do printf x >&3; done
for ((i = 0; i < count; i++)); do wait "\${pids[i]}"; echo "$?" >"$folder/$i.status"; done
`;

/** Guards at once; the verdict of each. */
async function together(
  home: GuardHome,
  payloads: readonly string[],
  waitMs: number,
): Promise<readonly string[]> {
  const folder = Deno.makeTempDirSync({ dir: home.home.folder });
  for (const [index, payload] of payloads.entries()) {
    Deno.writeTextFileSync(`${folder}/${index}.in`, payload);
  }
  const guard = [TURNGUARD, "stop", "--claude", ...home.home.args];
  // The session takes one line at a time, so the script cannot be an argument.
  Deno.writeTextFileSync(`${folder}/crowd`, CROWD);
  const words = ["/bin/bash", `${folder}/crowd`, folder, String(payloads.length), ...guard];
  const env = { FM_CLAUDE_AUTOARM_SYNC_WAIT_MS: String(waitMs) };
  assertEquals((await (await home.session.start(words, { env })).ended()).status, 0);
  return payloads.map((_, index) =>
    guardVerdict({
      status: Number(textOf(`${folder}/${index}.status`)),
      stdout: textOf(`${folder}/${index}.out`),
      stderr: textOf(`${folder}/${index}.err`),
    })
  );
}

/** One stop, delivered twice at once; the two verdicts in the order of the alphabet. */
async function twice(home: GuardHome, waitMs: number): Promise<string> {
  const verdicts = await together(home, [STOP_PAYLOAD, STOP_PAYLOAD], waitMs);
  return `${verdicts.toSorted().join(" ")}, ${home.left()}`;
}

/** Guards at once; their verdicts, each once. */
async function crowd(home: GuardHome, payloads: readonly string[]): Promise<readonly string[]> {
  const verdicts = await together(home, payloads, 100);
  // A guard that the crowd starves beyond its deadline allows in silence; nothing else may.
  const judged = verdicts.filter((verdict) => verdict !== "allow");
  assert(judged.length > 0, "no guard came to a verdict");
  return [...new Set(judged)];
}

for (const waitMs of [0, 800]) {
  table(`a stop that is delivered twice counts once, waiting ${waitMs} ms`, [
    ["no count yet", "block block, B(1,)", (home) => twice(home, waitMs)],
    ["a count", "block block, B(3,)", (home) => twice(home.budget(2, ""), waitMs)],
    ["a frozen ledger", "block block, B(2,3)", (home) => {
      return twice(home.ledger("clean", 3).budget(1, 3), waitMs);
    }],
    ["the first failure", "allow allow, B(0,3) N", (home) => {
      return twice(home.notice().ledger("failed", 3), waitMs);
    }],
    // The alarm's own delivery speaks; the other one must not block on top of it.
    ["the alarm", "alarm allow, B(4,3) N A", (home) => twice(home.exhausted(), waitMs)],
    ["after the alarm", "block block, B(5,3) N A", (home) => {
      return twice(home.exhausted().budget(4, 3).alarm(), waitMs);
    }],
    ["recovered", "allow allow, -", async (home) => {
      await home.episode().home.watcher();
      return await twice(home, waitMs);
    }],
    ["stops that follow each other", "block block block, B(3,)", async (home) => {
      const verdicts = await home.stops(3, { waitMs: 0 });
      return `${verdicts}, ${home.left()}`;
    }],
  ]);
}

/** Stops of a failure that was told, until the first that is no block; how many blocks came first. */
async function blocksBeforeAlarm(
  home: GuardHome,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  home.notice().ledger("failed-suppressed", 3, { age: 100 }).budget(0, 2);
  for (let blocks = 0; blocks < 20; blocks++) {
    const verdict = await home.stop({ waitMs: 0, env });
    if (verdict !== "block") return `${verdict} after ${blocks}`;
  }
  return "no alarm";
}

table("the alarm comes before the host's own cap", [
  ["cap 3, budget 5", "alarm after 2", (home) =>
    blocksBeforeAlarm(home, {
      CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: "3",
      FM_CLAUDE_TURNEND_BLOCK_BUDGET: "5",
    })],
  [
    "no variable, budget 50",
    "alarm after 7",
    (home) => blocksBeforeAlarm(home, { FM_CLAUDE_TURNEND_BLOCK_BUDGET: "50" }),
  ],
  ["cap 0, budget 9", "alarm after 9", (home) =>
    blocksBeforeAlarm(home, {
      CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: "0",
      FM_CLAUDE_TURNEND_BLOCK_BUDGET: "9",
    })],
  [
    "cap 1",
    "alarm after 1",
    (home) => blocksBeforeAlarm(home, { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: "1" }),
  ],
  [
    "cap malformed",
    "alarm after 3",
    (home) => blocksBeforeAlarm(home, { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: "x" }),
  ],
]);

function payloads(count: number, of: (index: number) => string): readonly string[] {
  return Array.from({ length: count }, (_, index) => of(index));
}

Deno.test("claude guard: a crowd with one payload is one stop", async () => {
  await using home = await makeGuardHome();
  const same = payloads(64, () => '{"session_id":"S1"}');
  assertEquals([await crowd(home, same), home.left()], [["block"], "B(1,)"]);
  assertEquals(home.litter(), []);
});

Deno.test("claude guard: a crowd of stops is counted one by one, and never torn", async () => {
  await using home = await makeGuardHome();
  const distinct = payloads(16, (index) => `{"session_id":"S1","n":${index}}`);
  assertEquals(await crowd(home, distinct), ["block"]);
  assertMatch(home.left(), /^B\([0-9]+,\)$/);
  // A guard that does not get the lock in its time blocks uncounted; none is counted twice.
  assert(home.count() >= 1 && home.count() <= 16, home.left());
  assertEquals(home.litter(), []);
});

Deno.test("claude guard: a crowd of several sessions leaves the count of one of them", async () => {
  await using home = await makeGuardHome();
  const mixed = payloads(64, (index) => `{"session_id":"S${index % 8}"}`);
  assertEquals(await crowd(home, mixed), ["block"]);
  // Another session in between starts the count over, so that no count outgrows one stop.
  assertMatch(textOf(home.path(BUDGET)), /^session=S[0-7]\ncount=1\nepoch=\ncharge=.*\n$/);
  assertEquals(home.litter(), []);
});

/** Kills in one home; there are four homes for each kind. */
const KILLS = 9;

/** Starts a guard and kills it at some moment of its run, or just after. */
async function killed(home: GuardHome, runMs: number): Promise<void> {
  const guard = await home.guard({ waitMs: 0 });
  await new Promise((resolve) => setTimeout(resolve, Math.random() * runMs));
  guard.kill();
  await guard.ended();
}

async function runLength(home: GuardHome): Promise<number> {
  const before = performance.now();
  await home.stop({ waitMs: 0 });
  return performance.now() - before;
}

/** The next stop raises the alarm, unless a watcher is there. */
function prepare(home: GuardHome): void {
  home.exhausted();
  if (exists(home.path(ALARM))) home.home.remove(ALARM);
}

/** Plays the same rounds in several homes; every complaint is told. */
async function survives(
  round: (home: GuardHome, runMs: number) => Promise<string>,
): Promise<readonly string[]> {
  const complaints = await inBatches([1, 2, 3, 4], async () => {
    await using home = await makeGuardHome();
    const runMs = await runLength(home);
    const found: string[] = [];
    for (let kill = 0; kill < KILLS; kill++) found.push(await round(home, runMs));
    // A killed holder's lock stays until somebody needs it; this last stop needs both.
    prepare(home);
    await home.stop({ waitMs: 0 });
    const locks = [BUDGET_LOCK, OWNER_LOCK].filter((lock) => exists(home.path(lock)));
    return [...found, ...locks].filter((complaint) => complaint !== "");
  });
  return complaints.flat();
}

Deno.test("claude guard: killed while it charges, it loses no more than its own charge", async () => {
  const complaints = await survives(async (home, runMs) => {
    const before = home.count();
    await killed(home, runMs);
    const verdict = await home.stop({ waitMs: 0 });
    const charged = home.count() - before;
    return verdict === "block" && (charged === 1 || charged === 2) ? "" : `${verdict} +${charged}`;
  });
  assertEquals(complaints, []);
});

Deno.test("claude guard: killed while it ends an episode, the next stop ends it", async () => {
  const complaints = await survives(async (home, runMs) => {
    if (!exists(home.path("state/.watch.lock"))) await home.home.watcher();
    home.episode().home.beat(5);
    await killed(home, runMs);
    const outcome = `${await home.stop({ waitMs: 0 })}, ${home.left()}`;
    return outcome === "allow, -" ? "" : outcome;
  });
  assertEquals(complaints, []);
});

Deno.test("claude guard: killed over its last decision, the alarm is neither lost nor repeated", async () => {
  const complaints = await survives(async (home, runMs) => {
    prepare(home);
    await killed(home, runMs);
    const alarmed = exists(home.path(ALARM));
    const outcome = `${await home.stop({ waitMs: 0 })} after ${alarmed ? "alarm" : "none"}`;
    return ["alarm after none", "block after alarm"].includes(outcome) ? "" : outcome;
  });
  assertEquals(complaints, []);
});
