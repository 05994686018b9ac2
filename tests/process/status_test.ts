/**
 * `status`: one screen, one JSON object, and nothing changed.
 *
 * @module
 */

import { assertEquals, assertMatch, assertNotMatch, assertStringIncludes } from "@std/assert";
import { makeHome } from "../support/home.ts";
import { deadPid } from "../support/processes.ts";
import { snapshot } from "../support/snapshot.ts";
import { runTurnguard } from "../support/turnguard.ts";

const FIRST_STOP = '{"stop_hook_active":false,"session_id":"S1"}';

Deno.test("status: a home without a watcher is shown as the next stop will judge it", async () => {
  await using home = makeHome();
  home.task().task("task2");
  await runTurnguard(["stop", ...home.args], { stdin: FIRST_STOP });
  const { status, stdout, stderr } = await runTurnguard(["status", ...home.args]);
  assertEquals([status, stderr], [0, ""]);
  assertMatch(stdout, /^scope +guarded \(primary checkout\)$/m);
  assertMatch(stdout, /^need +2 tasks, 0 sources, 0 checks, no relay$/m);
  assertMatch(stdout, /^watcher +down \(unheld\)/m);
  assertMatch(stdout, /^beacon +never /m);
  assertMatch(stdout, /^verdict +a stop would be BLOCKED now \(unsupervised\)$/m);
  assertMatch(stdout, /^ {2}\S+ \S+ stop +\S+ +block unsupervised/m);
});

Deno.test("status: a healthy watcher lets the next stop pass", async () => {
  await using home = makeHome();
  const watcher = await home.task().watcher(7);
  const { stdout } = await runTurnguard(["status", ...home.args]);
  assertMatch(stdout, new RegExp(`^watcher +healthy: pid ${watcher.pid}, beat \\d+s ago$`, "m"));
  assertMatch(stdout, /^verdict +a stop would be allowed now \(watcher-healthy\)$/m);
});

Deno.test("status: the recorded session owner is alive or gone", async () => {
  await using home = makeHome();
  const owner = home.sleeper();
  home.write("state/.lock", `${owner.pid}\nharness=x\n`);
  const alive = await runTurnguard(["status", ...home.args]);
  assertStringIncludes(alive.stdout, `recorded pid ${owner.pid}, alive\n`);
  const gone = await deadPid();
  home.write("state/.lock", `${gone}\n`);
  const dead = await runTurnguard(["status", ...home.args]);
  assertStringIncludes(dead.stdout, `recorded pid ${gone}, gone\n`);
});

Deno.test("status --json: has the documented keys", async () => {
  await using home = makeHome();
  await home.task().away("quiet\n").daemon();
  home.beat(3);
  const { status, stdout } = await runTurnguard(["status", "--json", ...home.args]);
  assertEquals(status, 0);
  const report: Record<string, unknown> = JSON.parse(stdout);
  assertEquals(Object.keys(report), [
    "home",
    "scope",
    "need",
    "watcher",
    "beacon",
    "away",
    "session",
    "verdict",
    "notices",
    "recent",
  ]);
  assertEquals(report["need"], { kind: "needed", tasks: 1, sources: 0, checks: 0, relay: false });
  assertEquals(report["verdict"], { kind: "allow", code: "daemon-owns" });
  assertEquals(report["session"], { kind: "none", pid: null, liveness: null });
  assertEquals(report["recent"], []);
});

Deno.test("status: reads only", async () => {
  await using home = makeHome();
  await home.task().watcher();
  await runTurnguard(["stop", ...home.args], { stdin: FIRST_STOP });
  const journal = Deno.readTextFileSync(home.path("state/.turnguard-journal.jsonl"));
  const before = snapshot(home.root);
  await runTurnguard(["status", ...home.args]);
  await runTurnguard(["status", "--json", ...home.args]);
  assertEquals(snapshot(home.root), before);
  assertEquals(Deno.readTextFileSync(home.path("state/.turnguard-journal.jsonl")), journal);
});

Deno.test("status: nothing from a state file steers the terminal", async () => {
  await using home = makeHome();
  home.task();
  await home.watcher(5, { home: "/evil\u001b[31m\u202e" });
  const { status, stdout } = await runTurnguard(["status", ...home.args]);
  assertEquals(status, 0);
  // deno-lint-ignore no-control-regex -- control characters are what must not be there
  assertNotMatch(stdout, /[\u0000-\u0009\u000b-\u001f\u007f\u202e]/);
});

Deno.test("status: outside of any home it says so and succeeds", async () => {
  await using home = makeHome({ git: "none" });
  home.remove("bin");
  const { status, stdout } = await runTurnguard(["status"], { cwd: home.root });
  assertEquals(status, 0);
  assertMatch(stdout, /found by: no home was found/);
  assertMatch(stdout, /^scope +not guarded/m);
});
