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
import { parseExposition, valueOf } from "../support/exposition.ts";
import { makeHome, type TestHome } from "../support/home.ts";
import { deadPid, identityOf } from "../support/processes.ts";
import { snapshot } from "../support/snapshot.ts";
import { FIRST_STOP, runProgram, runTurnguard, TURNGUARD } from "../support/turnguard.ts";

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

/** One object of `status --json`, as far as these tests read it. */
type Told = Readonly<Record<string, Readonly<Record<string, unknown>>>> & {
  readonly schema: string;
  readonly problem: string | null;
};

/** What `status --json` of a home says. */
async function reportOf(
  home: TestHome,
  env: Readonly<Record<string, string>> = {},
): Promise<Told> {
  const { status, stdout, stderr } = await runTurnguard(["status", "--json", ...home.args], {
    env,
  });
  assertEquals([status, stderr], [0, ""]);
  return JSON.parse(stdout);
}

Deno.test("status --json: a home in quiet mode, with the documented keys", async () => {
  await using home = makeHome();
  await home.task().away("quiet\n").daemon();
  home.beat(3);
  await runTurnguard(["stop", ...home.args], { stdin: FIRST_STOP });
  const report = await reportOf(home);
  const paths = Object.entries(report).flatMap(([name, value]): readonly string[] => {
    if (Array.isArray(value)) {
      const keys = value.flatMap((entry: object) => Object.keys(entry));
      return [name, ...new Set(keys.map((key) => `${name}[].${key}`))];
    }
    return typeof value === "object" && value !== null
      ? Object.keys(value).map((key) => `${name}.${key}`)
      : [name];
  });
  assertEquals(paths, STATUS_KEYS.rows.map(([path]) => path));
  assertEquals(report.schema, "turnguard-status.v1");
  assertEquals(report.problem, null);
  assertEquals(report["need"], {
    kind: "needed",
    because: "1 task(s) in flight",
    tasks: 1,
    sources: 0,
    checks: 0,
    relay: false,
  });
  assertEquals(report["verdict"], { kind: "allow", code: "daemon-owns" });
  assertEquals([report["away"]?.["mode"], report["away"]?.["daemon"]], ["quiet", "owns"]);
  assertEquals(report["session"], { kind: "none", pid: null, liveness: null, because: null });
});

Deno.test("status: queue, claim, failure and digest are told on the screen and as JSON", async () => {
  await using home = makeHome();
  home.task();
  home.write("state/.wake-queue", "1700000000\t1\tcheck\ta\tcheck: a\nno row\n");
  home.write("state/.watcher-down", "pending:downtime:g\n");
  home.write("state/.claude-autoarm-epoch", "epoch=7 owner_pid=1 outcome=failed updated_at=1\n");
  home.write("state/.turnend-claude-blocks", "session=S1\ncount=2\nepoch=7\n");
  home.write("state/.claude-autoarm-failure-notified");
  home.write("state/.claude-autoarm-failure-alarmed");
  home.write("state/.subsuper-escalations", "one\ntwo\n");
  const env = { FM_CLAUDE_TURNEND_BLOCK_BUDGET: "5" };
  const { wakes, autoarm, failure, digest } = await reportOf(home, env);
  assertEquals([wakes?.["pending"], wakes?.["unusable"], wakes?.["recovery"]], [
    2,
    1,
    "pending:downtime",
  ]);
  assert(Number(wakes?.["oldestSeconds"]) > 0);
  assertEquals([autoarm?.["kind"], autoarm?.["epoch"], autoarm?.["outcome"]], [
    "closed",
    7,
    "failed",
  ]);
  assertEquals(failure, { blocks: 2, budget: 5, noticed: true, alarmed: true });
  // Nothing says since when, and that is no time in the past.
  assertEquals(digest, {
    items: 2,
    oldestSeconds: null,
    wedged: false,
    because: "its first item has no readable time",
  });
  const { stdout } = await runTurnguard(["status", ...home.args], { env });
  assertMatch(stdout, /^wakes +2 wakes to handle, 1 that no wake wrote, the oldest for \d+ d;$/m);
  assertMatch(stdout, /^autoarm +epoch 7 ended: failed$/m);
  assertMatch(stdout, /^failure +supervision failed; the alarm was raised; 2 blocks counted/m);
  assertMatch(stdout, /^digest +2 items not delivered$/m);
  for (const line of stdout.split("\n")) assert([...line].length <= 80, line);
});

Deno.test("status: an open claim of the auto-arm is told with its owner", async () => {
  await using home = makeHome();
  const owner = home.task().sleeper();
  home.write("state/.lock", `${owner.pid}\n`);
  const identity = await identityOf(owner.pid);
  home.write(
    "state/.claude-autoarm-epoch",
    `epoch=3 owner_pid=${owner.pid} outcome=arming updated_at=1\n${identity}\n`,
  );
  const { autoarm } = await reportOf(home);
  const { ageSeconds, ...claim } = autoarm ?? {};
  assertEquals(claim, {
    kind: "open",
    epoch: 3,
    ownerPid: owner.pid,
    outcome: "arming",
    because: null,
  });
  assert(Number.isInteger(ageSeconds));
});

Deno.test("status: checks are counted by what may be done with them", async () => {
  await using home = makeHome();
  home.write("fine.sh", "exit 0\n");
  for (const id of ["fine", "edited"]) {
    const added = await runTurnguard(["check", "add", id, "--file", home.path("fine.sh")], {
      cwd: home.root,
    });
    assertEquals([added.status, added.stderr], [0, ""]);
  }
  Deno.writeTextFileSync(home.path("state/edited.check.sh"), "exit 1\n");
  home.check("unregistered", "untrusted").write("state/gone.check-trust");
  const { checks } = await reportOf(home);
  assertEquals(checks, {
    trusted: 1,
    relay: 0,
    changed: 1,
    rejected: 1,
    missing: 1,
    leftOut: 0,
    because: null,
  });
  const { stdout } = await runTurnguard(["status", ...home.args]);
  assertMatch(stdout, /^checks +1 trusted, 1 changed since, 1 refused, 1 without a script$/m);
});

Deno.test("status: sources are counted, with their live runners and those that cannot run", async () => {
  await using home = makeHome();
  const env = { FM_PROCEVENT_CLAIM_ROOT: `${home.folder}/claims` };
  for (const id of ["runs", "rests"]) {
    const added = await runTurnguard(
      ["procevent", "register", "plain", id, ...home.args, "--", "/bin/true"],
      { env },
    );
    assertEquals([added.status, added.stderr], [0, ""]);
  }
  home.write("state/procevent/broken.source", "adapter=plain\n");
  const runner = home.sleeper();
  const claim = [home.root, runner.pid, "t1", await identityOf(runner.pid), "", "", "active", ""];
  Deno.writeTextFileSync(`${home.folder}/claims/runs.claim`, claim.join("\n"));
  assertEquals((await reportOf(home, env))["sources"], {
    registered: 2,
    rejected: 1,
    running: 1,
    doubtful: 0,
    unhandled: 0,
    because: null,
  });
  const { sources } = await reportOf(home);
  assertEquals([sources?.["running"], sources?.["doubtful"]], [null, null]);
  assertStringIncludes(String(sources?.["because"]), "XDG_STATE_HOME");
});

Deno.test("status: a home whose state cannot be listed is undetermined, in every form", async () => {
  await using home = makeHome();
  home.remove("state").write("state", "a file in its place");
  const screen = await runTurnguard(["status", ...home.args]);
  assertEquals([screen.status, screen.stderr], [0, ""]);
  assertMatch(screen.stdout, /^state +unknown: the state directory cannot be listed/m);
  assertNotMatch(screen.stdout, /^(?:watcher|wakes|checks) /m);
  const report = await reportOf(home);
  assertStringIncludes(String(report.problem), "cannot be listed");
  assertEquals(report["wakes"]?.["pending"], null);
  const { stdout } = await runTurnguard(["status", "--prometheus", ...home.args]);
  const samples = parseExposition(stdout);
  const labels = { home: home.root };
  assertEquals(valueOf(samples, "turnguard_watcher_healthy", labels), undefined);
  assertEquals(
    valueOf(samples, "turnguard_status_undetermined", { ...labels, what: "home" }),
    1,
  );
});

Deno.test("status --prometheus: is the exposition format, with what cannot be told left out", async () => {
  await using home = makeHome();
  await home.task().watcher(7);
  const { status, stdout, stderr } = await runTurnguard(["status", "--prometheus", ...home.args]);
  assertEquals([status, stderr], [0, ""]);
  const samples = parseExposition(stdout);
  const of = (name: string, labels: Readonly<Record<string, string>> = {}): number | undefined =>
    valueOf(samples, `turnguard_${name}`, { home: home.root, ...labels });
  assertEquals(of("supervision_needed"), 1);
  assertEquals(of("watcher_healthy"), 1);
  assertEquals(of("tasks"), 1);
  assertEquals(of("stop_blocked"), 0);
  assertEquals(of("wake_oldest_age_seconds"), undefined);
  assertEquals(of("status_undetermined", { what: "watcher" }), 0);
  assert((of("beacon_age_seconds") ?? 0) >= 7);
});

Deno.test("status --prometheus: a watcher that died is down, and its last beat is told", async () => {
  await using home = makeHome();
  const watcher = await home.task().watcher(20);
  await watcher.end();
  const { stdout } = await runTurnguard(["status", "--prometheus", ...home.args]);
  const samples = parseExposition(stdout);
  assertEquals(valueOf(samples, "turnguard_watcher_healthy", { home: home.root }), 0);
  assertEquals(valueOf(samples, "turnguard_stop_blocked", { home: home.root }), 1);
  assert((valueOf(samples, "turnguard_beacon_age_seconds", { home: home.root }) ?? 0) >= 20);
  const { watcher: told } = await reportOf(home);
  assertEquals([told?.["kind"], told?.["because"], told?.["pid"]], ["down", "dead", watcher.pid]);
});

Deno.test("status --prometheus: an output that does not take it is a failure", async () => {
  await using home = makeHome();
  const run = await runProgram([
    "/bin/sh",
    "-c",
    '"$0" status --prometheus --root "$1" >/dev/full && echo renamed',
    TURNGUARD,
    home.root,
  ]);
  assertEquals([run.status, run.stdout], [1, ""]);
});

Deno.test("status --all: several homes in every form, a broken one among them", async () => {
  await using first = makeHome();
  await using second = makeHome();
  await using odd = makeHome({ name: 'a "quoted" \\ back\nslash' });
  await first.task().watcher(5);
  second.task();
  const gone = `${second.folder}/gone`;
  const words = ["status", "--all", first.root, second.root, odd.root, gone, `${first.root}/`];
  // A variable that names one home says nothing about the others.
  const env = { FM_HOME: first.root };
  const lines = await runTurnguard(words, { env });
  assertEquals([lines.status, lines.stderr], [0, ""]);
  assertEquals(
    lines.stdout.split("\n").map((line) => line.slice(0, 9).trim()).filter((word) => word !== ""),
    ["BLIND", "UNKNOWN", "watched", "idle"],
  );
  assertStringIncludes(lines.stdout, `UNKNOWN  ${gone}`);
  assertStringIncludes(lines.stdout, "cannot be listed");
  const told = JSON.parse((await runTurnguard([...words, "--json"], { env })).stdout);
  assertEquals(Object.keys(told), ["schema", "homes"]);
  assertEquals(told.schema, "turnguard-status-homes.v1");
  const homes: readonly { home: { home: string }; problem: string | null }[] = told.homes;
  assertEquals(homes.map((report) => report.home.home), [
    first.root,
    second.root,
    odd.root,
    gone,
  ]);
  assertEquals(homes.map((report) => report.problem === null), [true, true, true, false]);
  const { stdout } = await runTurnguard([...words, "--prometheus"], { env });
  const samples = parseExposition(stdout);
  assertEquals(valueOf(samples, "turnguard_tasks", { home: odd.root }), 0);
  assertEquals(valueOf(samples, "turnguard_stop_blocked", { home: second.root }), 1);
  assertEquals(valueOf(samples, "turnguard_watcher_healthy", { home: gone }), undefined);
  assertEquals(
    valueOf(samples, "turnguard_status_undetermined", { home: gone, what: "home" }),
    1,
  );
});

Deno.test("status --all: homes of the variable, of the list, or a complaint that says where", async () => {
  await using home = makeHome();
  const config = `${home.folder}/config`;
  const list = `${config}/turnguard/homes`;
  const fails = async (env: Readonly<Record<string, string>>, because: string): Promise<void> => {
    const { status, stdout, stderr } = await runTurnguard(["status", "--all"], { env });
    assertEquals([status, stdout], [2, ""]);
    assertStringIncludes(stderr, because);
    assertStringIncludes(stderr, "name homes after --all");
  };
  await fails({ XDG_CONFIG_HOME: config }, `there is no list ${list}`);
  await fails({ HOME: config }, `there is no list ${config}/.config/turnguard/homes`);
  await fails({ TURNGUARD_HOMES: ":" }, "TURNGUARD_HOMES names no home");
  await fails({}, "no HOME says where");
  Deno.mkdirSync(`${config}/turnguard`, { recursive: true });
  Deno.writeTextFileSync(list, "# nothing\n");
  await fails({ XDG_CONFIG_HOME: config }, `the list ${list} is empty`);
  Deno.writeTextFileSync(list, `# mine\n\n  ${home.root}\n`);
  for (const env of [{ XDG_CONFIG_HOME: config }, { TURNGUARD_HOMES: `:${home.root}:` }]) {
    const run = await runTurnguard(["status", "--all"], { env });
    assertEquals([run.status, run.stderr], [0, ""]);
    assertStringIncludes(run.stdout, `idle     ${home.root}  `);
  }
  Deno.removeSync(list);
  Deno.mkdirSync(list);
  await fails({ XDG_CONFIG_HOME: config }, `the list ${list} cannot be read`);
});

Deno.test("status: words that contradict each other are refused", async () => {
  for (
    const words of [
      ["--json", "--prometheus"],
      ["/somewhere"],
      ["--all", "--root", "/somewhere"],
      ["--all", "--root", "/somewhere", "/elsewhere"],
    ]
  ) {
    const { status, stdout, stderr } = await runTurnguard(["status", ...words]);
    assertEquals([status, stdout], [2, ""], words.join(" "));
    assertStringIncludes(stderr, "nothing was done");
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
  // Where claims of sources would be is not made either.
  const env = { FM_PROCEVENT_CLAIM_ROOT: `${home.folder}/claims` };
  await runTurnguard(["status", "--all", "--prometheus", home.root], { env });
  assertEquals([...Deno.readDirSync(home.folder)].map(({ name }) => name), ["home"]);
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
