/**
 * `status`: one screen, one JSON object, and nothing changed.
 *
 * @module
 */

import {
  assert,
  assertEquals,
  assertMatch,
  assertNotMatch,
  assertStringIncludes,
} from "@std/assert";
import { STATUS_KEYS } from "../../src/modes/status_json.ts";
import { makeHome } from "../support/home.ts";
import { deadPid } from "../support/processes.ts";
import { snapshot } from "../support/snapshot.ts";
import { FIRST_STOP, runTurnguard } from "../support/turnguard.ts";

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

Deno.test("status --json: has the documented keys, each of its value's kind", async () => {
  await using home = makeHome();
  await home.task().away("quiet\n").daemon();
  home.beat(3);
  const { status, stdout } = await runTurnguard(["status", "--json", ...home.args]);
  assertEquals(status, 0);
  const report = JSON.parse(stdout);
  const paths = Object.entries(report).flatMap(([name, value]) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.keys(value).map((key) => `${name}.${key}`)
      : [name]
  );
  assertEquals(paths, STATUS_KEYS.map(([path]) => path));
  assertEquals(report.schema, "turnguard-status.v1");
  assertEquals(report.need, { kind: "needed", tasks: 1, sources: 0, checks: 0, relay: false });
  assertEquals(report.verdict, { kind: "allow", code: "daemon-owns" });
  assertEquals(report.session, { kind: "none", pid: null, liveness: null });
  assertEquals([report.recent, report.wakes.recovery], [[], "none"]);
});

Deno.test("status --json: queue, checks, claim, failure and digest are told", async () => {
  await using home = makeHome();
  home.task().check("c1", "untrusted");
  home.write("state/.wake-queue", "1700000000\t1\tcheck\ta\tcheck: a\nno row\n");
  home.write("state/.watcher-down", "pending:downtime:g\n");
  home.write("state/.claude-autoarm-epoch", "epoch=7 owner_pid=1 outcome=failed updated_at=1\n");
  home.write("state/.turnend-claude-blocks", "session=S1\ncount=2\nepoch=7\n");
  home.write("state/.claude-autoarm-failure-notified");
  home.write("state/.subsuper-escalations", "one\ntwo\n");
  const { stdout } = await runTurnguard(["status", "--json", ...home.args]);
  const { wakes, checks, autoarm, failure, digest } = JSON.parse(stdout);
  assertEquals([wakes.pending, wakes.recovery, wakes.oldestSeconds > 0], [
    2,
    "pending:downtime",
    true,
  ]);
  assertEquals(checks, { registered: 0, rejected: 1 });
  assertEquals([autoarm.epoch, autoarm.outcome], [7, "failed"]);
  assertEquals(failure, { blocks: 2, noticed: true, alarmed: false });
  assertEquals(digest.items, 2);
  const screen = await runTurnguard(["status", ...home.args]);
  for (
    const line of [
      "wakes    2 wakes to handle",
      "checks   0 registered, 1 that",
      "digest   2 items",
    ]
  ) {
    assertStringIncludes(screen.stdout, line);
  }
  for (const line of screen.stdout.split("\n")) assert([...line].length <= 80, line);
});

/** A metric's value, by name and labels; every line is checked against the format. */
function parseExposition(text: string): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  const described = new Set<string>();
  for (const line of text.split("\n").slice(0, -1)) {
    const header = /^# (HELP|TYPE) (turnguard_[a-z_]+) (.+)$/.exec(line);
    if (header !== null) {
      const [, kind = "", name = ""] = header;
      assert(!described.has(`${kind} ${name}`), `described twice: ${line}`);
      described.add(`${kind} ${name}`);
      continue;
    }
    const sample = /^(turnguard_[a-z_]+)\{((?:[a-z]+="(?:[^"\\\n]|\\[\\"n])*",?)+)\} (-?[0-9.]+)$/
      .exec(line);
    assert(sample !== null, `not a sample: ${line}`);
    const [, name = "", labels = "", value = ""] = sample;
    assert(
      described.has(`TYPE ${name}`) && described.has(`HELP ${name}`),
      `not described: ${name}`,
    );
    assert(!values.has(`${name}{${labels}}`), `twice: ${line}`);
    values.set(`${name}{${labels}}`, Number(value));
  }
  assert(text.endsWith("\n"));
  return values;
}

Deno.test("status --prometheus: is the exposition format, with what cannot be told left out", async () => {
  await using home = makeHome();
  await home.task().watcher(7);
  const { status, stdout } = await runTurnguard(["status", "--prometheus", ...home.args]);
  assertEquals(status, 0);
  const values = parseExposition(stdout);
  const of = (name: string, labels = ""): number | undefined =>
    values.get(`turnguard_${name}{home="${home.root}"${labels}}`);
  assertEquals(of("supervision_needed"), 1);
  assertEquals(of("watcher_healthy"), 1);
  assertEquals(of("need", ',source="task"'), 1);
  assertEquals(of("stop_blocked"), 0);
  assertEquals(of("wakes_oldest_age_seconds"), undefined);
  assertEquals(of("undetermined", ',what="watcher"'), 0);
  assert((of("beacon_age_seconds") ?? 0) >= 7);
});

Deno.test("status --all: several homes in every form, a broken one among them", async () => {
  await using first = makeHome();
  await using second = makeHome();
  await first.task().watcher(5);
  second.task();
  const odd = `${second.folder}/a "quoted" \\ back\nslash`;
  const words = ["status", "--all", first.root, second.root, odd, first.root];
  // A variable that names one home says nothing about the others.
  const env = { FM_HOME: first.root };
  const lines = await runTurnguard(words, { env });
  assertEquals(lines.status, 0, lines.stderr);
  const [watched = "", blind = "", idle = "", ...rest] = lines.stdout.split("\n");
  assertMatch(watched, /^watched {2}/);
  assertMatch(blind, /^BLIND {4}/);
  assertMatch(idle, /^idle {5}/);
  assertEquals(rest, [""]);
  const array = JSON.parse((await runTurnguard([...words, "--json"], { env })).stdout);
  assertEquals(array.map((report: { home: { home: string } }) => report.home.home), [
    first.root,
    second.root,
    odd,
  ]);
  const values = parseExposition((await runTurnguard([...words, "--prometheus"], { env })).stdout);
  const label = odd.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
  assertEquals(values.get(`turnguard_in_scope{home="${label}"}`), 0);
  assertEquals(values.get(`turnguard_stop_blocked{home="${second.root}"}`), 1);
});

Deno.test("status --all: homes of the variable, of the list, or a complaint that says where", async () => {
  await using home = makeHome();
  const config = `${home.folder}/config`;
  const nothing = await runTurnguard(["status", "--all"], { env: { XDG_CONFIG_HOME: config } });
  assertEquals([nothing.status, nothing.stdout], [2, ""]);
  assertStringIncludes(nothing.stderr, `${config}/turnguard/homes`);
  Deno.mkdirSync(`${config}/turnguard`, { recursive: true });
  Deno.writeTextFileSync(`${config}/turnguard/homes`, `# mine\n\n${home.root}\n`);
  for (const env of [{ XDG_CONFIG_HOME: config }, { TURNGUARD_HOMES: `:${home.root}:` }]) {
    const run = await runTurnguard(["status", "--all"], { env });
    assertEquals([run.status, run.stdout.split("\n").length], [0, 2], run.stderr);
  }
});

Deno.test("status: reads only", async () => {
  await using home = makeHome();
  await home.task().watcher();
  await runTurnguard(["stop", ...home.args], { stdin: FIRST_STOP });
  const journal = Deno.readTextFileSync(home.path("state/.turnguard-journal.jsonl"));
  const before = snapshot(home.root);
  await runTurnguard(["status", ...home.args]);
  await runTurnguard(["status", "--json", ...home.args]);
  await runTurnguard(["status", "--prometheus", ...home.args]);
  await runTurnguard(["status", "--all", home.root]);
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
