/**
 * `task`: what it records is what the guard counts, and nothing else is touched.
 *
 * @module
 */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { makeHome } from "../support/home.ts";
import { snapshot } from "../support/snapshot.ts";
import { FIRST_STOP, inBatches, runTurnguard, verdictOf } from "../support/turnguard.ts";

Deno.test("task: a stop is blocked from add until done", async () => {
  await using home = makeHome();
  const stop = async (): Promise<string> =>
    verdictOf(await runTurnguard(["stop", ...home.args], { stdin: FIRST_STOP }));
  assertEquals(await stop(), "allow");
  const added = await runTurnguard(["task", "add", "build-7", ...home.args]);
  assertEquals([added.status, added.stderr], [0, ""]);
  assertEquals(await stop(), "block");
  const done = await runTurnguard(["task", "done", "build-7", ...home.args]);
  assertEquals([done.status, done.stderr], [0, ""]);
  assertEquals(await stop(), "allow");
});

Deno.test("task add: writes kind, time and note", async () => {
  await using home = makeHome();
  const before = Math.floor(Date.now() / 1000);
  await runTurnguard(["task", "add", "a", "--note", "x = y", ...home.args]);
  const text = Deno.readTextFileSync(home.path("state/a.meta"));
  const createdAt = Number(/^kind=turnguard\ncreated_at=(\d+)\nnote=x = y\n$/.exec(text)?.[1]);
  assertEquals(createdAt >= before && createdAt <= Date.now() / 1000, true, text);
});

Deno.test("task add: of many at once exactly one makes the record", async () => {
  await using home = makeHome();
  const notes = ["1", "2", "3", "4", "5", "6"];
  const runs = await inBatches(
    notes,
    (note) => runTurnguard(["task", "add", "a", "--note", note, ...home.args]),
    6,
  );
  assertEquals(runs.map((run) => run.status).toSorted(), [0, 1, 1, 1, 1, 1]);
  const winner = notes[runs.findIndex((run) => run.status === 0)];
  assertStringIncludes(Deno.readTextFileSync(home.path("state/a.meta")), `note=${winner}\n`);
  assertEquals([...Deno.readDirSync(home.state)].map((found) => found.name), ["a.meta"]);
});

/** Command lines that are refused, with their status and a word of the complaint. */
const REFUSED: ReadonlyArray<readonly [readonly string[], number, RegExp]> = [
  [[], 2, /add ID, done ID or list/],
  [["add"], 2, /needs an ID/],
  [["finish", "a"], 2, /"finish"/],
  [["add", "../a"], 2, /not an ID/],
  [["add", ".a"], 2, /not an ID/],
  [["add", "x".repeat(65)], 2, /not an ID/],
  [["add", "a", "--note", "two\nlines"], 2, /one line/],
  [["add", "a", "--force"], 2, /--force belongs to done/],
  [["done", "a", "--note", "n"], 2, /--note belongs to add/],
  [["done", "a", "--json"], 2, /--json belongs to list/],
  [["list", "a"], 2, /no ID/],
  [["add", "old"], 1, /left as it is/],
  [["done", "old"], 1, /another program \(kind "crew"\).*--force/],
  [["done", "none"], 1, /no record/],
];

Deno.test("task: what is refused changes nothing and says why in one line", async () => {
  await using home = makeHome();
  home.write("state/old.meta", "kind=crew\n");
  const before = snapshot(home.root);
  for (const [words, status, complaint] of REFUSED) {
    const run = await runTurnguard(["task", ...words, ...home.args]);
    assertEquals([run.status, run.stdout], [status, ""], words.join(" "));
    assertMatch(run.stderr, complaint);
    assertMatch(run.stderr, /^turnguard task: [^\n]*\n$/);
  }
  assertEquals(snapshot(home.root), before);
});

Deno.test("task done --force: removes a record of another program", async () => {
  await using home = makeHome();
  home.task("old");
  const { status } = await runTurnguard(["task", "done", "old", "--force", ...home.args]);
  assertEquals([status, [...Deno.readDirSync(home.state)].length], [0, 0]);
});

Deno.test("task list: all records, for people and as JSON", async () => {
  await using home = makeHome();
  const empty = await runTurnguard(["task", "list", ...home.args]);
  assertEquals(empty.stdout, "no task in flight\n");
  home.write("state/a.meta", "kind=turnguard\ncreated_at=0\nnote=first\u001b[31m\n");
  home.write("state/b.meta", "kind=crew\n");
  const { stdout } = await runTurnguard(["task", "list", ...home.args]);
  assertMatch(stdout, /^a +\d+ d {2}first\\x1b\[31m\nb +\d+ s {2}\(crew\)\n2 tasks in flight\n$/);
  const json = await runTurnguard(["task", "list", "--json", ...home.args]);
  const records: readonly Readonly<Record<string, unknown>>[] = JSON.parse(json.stdout);
  assertEquals(records.map(({ ageSeconds: _age, ...said }) => said), [
    { id: "a", kind: "turnguard", createdAt: 0, note: "first\u001b[31m" },
    { id: "b", kind: "crew", createdAt: null, note: null },
  ]);
});

Deno.test("task: without a state directory nothing is made", async () => {
  await using home = makeHome();
  home.remove("state");
  const { status, stderr } = await runTurnguard(["task", "add", "a", ...home.args]);
  assertEquals(status, 1);
  assertMatch(stderr, /no state directory.*turnguard init/);
  assertEquals([...Deno.readDirSync(home.root)].some((found) => found.name === "state"), false);
});

Deno.test("task add: says when the home is not guarded", async () => {
  await using home = makeHome({ git: "none" });
  const { status, stdout } = await runTurnguard(["task", "add", "a", ...home.args]);
  assertEquals(status, 0);
  assertStringIncludes(stdout, "not guarded (not a checkout root)");
});
