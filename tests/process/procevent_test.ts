/**
 * `procevent` on the built executable: one runner for a source on the machine, no result lost or told
 * twice, and nothing that keeps running unowned.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { makeHome, type TestHome } from "../support/home.ts";
import { until } from "../support/processes.ts";
import { type RunResult, runTurnguard, startTurnguard } from "../support/turnguard.ts";

/** A home, the claims beside it, and the end of every runner that its claims name. */
class Sources implements AsyncDisposable {
  readonly home: TestHome;
  readonly claims: string;
  readonly #others: TestHome[] = [];

  constructor(home = makeHome(), claims = `${home.folder}/claims`) {
    this.home = home;
    this.claims = claims;
  }

  /** Another home with the same claims. */
  neighbour(): Sources {
    const home = makeHome();
    this.#others.push(home);
    return new Sources(home, this.claims);
  }

  get env(): Readonly<Record<string, string>> {
    return { FM_PROCEVENT_CLAIM_ROOT: this.claims, FM_PROCEVENT_LAUNCH_CONFIRM_SECONDS: "20" };
  }

  run(...words: readonly string[]): Promise<RunResult> {
    // Arguments after -- are the command's.
    const end = words.indexOf("--");
    const own = end < 0 ? words : words.slice(0, end);
    const command = end < 0 ? [] : words.slice(end);
    const args = ["procevent", ...own, ...this.home.args, ...command];
    return runTurnguard(args, { env: this.env });
  }

  /** Registers a shell script as the source `id`. */
  async register(id: string, script: string, adapter = "plain"): Promise<void> {
    const run = await this.run("register", adapter, id, "--", "/bin/sh", "-c", script);
    assertEquals(run, { status: 0, stdout: `registered: ${id} (${adapter})\n`, stderr: "" });
  }

  adapter(name: string, script: string): void {
    this.home.write(`bin/fm-procevent-${name}.sh`, `#!/bin/sh\n${script}\n`);
    Deno.chmodSync(this.home.path(`bin/fm-procevent-${name}.sh`), 0o755);
  }

  inbox(): readonly string[] {
    try {
      return [...Deno.readDirSync(this.home.path("state/procevent-inbox"))]
        .map((entry) => entry.name).toSorted();
    } catch {
      return [];
    }
  }

  result(name: string): string {
    return Deno.readTextFileSync(this.home.path("state/procevent-inbox", name));
  }

  /** Keys of the queued rows. */
  keys(): readonly string[] {
    try {
      return Deno.readTextFileSync(this.home.path("state/.wake-queue")).split("\n").slice(0, -1)
        .map((row) => row.split("\t")[3] ?? "");
    } catch {
      return [];
    }
  }

  claim(id: string): readonly string[] {
    try {
      return Deno.readTextFileSync(`${this.claims}/${id}.claim`).split("\n");
    } catch {
      return [];
    }
  }

  runner(id: string): number {
    return Number(this.claim(id)[1]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const entry of existing(this.claims)) {
      if (!entry.endsWith(".claim")) continue;
      const pid = this.runner(entry.slice(0, -".claim".length));
      if (pid <= 1 || !isGroupRunning(pid)) continue;
      Deno.kill(-pid, "SIGKILL");
      // Until it is gone it may still put files in the folder that is removed next.
      await until(() => !isGroupRunning(pid));
    }
    for (const home of [this.home, ...this.#others]) await home[Symbol.asyncDispose]();
  }
}

function existing(folder: string): readonly string[] {
  try {
    return [...Deno.readDirSync(folder)].map((entry) => entry.name);
  } catch {
    return [];
  }
}

/** Whether a process of this group still does anything. */
function isGroupRunning(leader: number): boolean {
  return [...Deno.readDirSync("/proc")].some(({ name }) => {
    if (!/^[0-9]+$/.test(name)) return false;
    try {
      const stat = Deno.readTextFileSync(`/proc/${name}/stat`);
      const [state, , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return group === String(leader) && state !== "Z";
    } catch {
      return false;
    }
  });
}

Deno.test("procevent register: what is wrong is said, and nothing is registered", async () => {
  await using sources = new Sources();
  for (
    const [words, status, stderr] of [
      [[], 2, /say what to do/],
      [["register", "plain"], 2, /takes 2 words/],
      [["register", "plain", "../a", "--", "x"], 2, /not an ID/],
      [["register", "plain", "a"], 2, /needs a command/],
      [["register", "plain", "a", "--", "x", "y\nz"], 2, /line breaks/],
      [["register", "none", "a", "--", "x"], 1, /^error: no installed adapter for: none\n$/],
      [["register", "../x", "a", "--", "x"], 1, /no installed adapter/],
      [["start", "a"], 1, /^error: not registered: a\n$/],
      [["retire", "a"], 1, /^error: not registered: a\n$/],
      [["handled", "a", "1"], 1, /^error: no result 1 of a\n$/],
      [["handled", "a", "x"], 2, /not a result's number/],
      [["list", "--preflight"], 2, /belongs to sweep-home/],
    ] as const
  ) {
    const run = await sources.run(...words);
    assertEquals([run.status, run.stdout], [status, ""], words.join(" "));
    assertMatch(run.stderr, stderr);
  }
  assertEquals(existing(sources.home.path("state/procevent")), []);
});

Deno.test("procevent register: the file is private and holds the words as they are", async () => {
  await using sources = new Sources();
  await sources.run("register", "plain", "a", "--", "printf", "", "--flag", "a b");
  const path = sources.home.path("state/procevent/a.source");
  assertEquals(
    Deno.readTextFileSync(path),
    "adapter=plain\nargc=4\nargv:\nprintf\n\n--flag\na b\n",
  );
  assertEquals((Deno.lstatSync(path).mode ?? 0) & 0o777, 0o600);
  assertEquals((Deno.lstatSync(sources.claims).mode ?? 0) & 0o777, 0o700);
});

Deno.test("procevent start: each run is a result of its own, and its claim goes", async () => {
  await using sources = new Sources();
  await sources.register("src", "printf x");
  for (const sequence of [1, 2]) {
    const run = await sources.run("start", "src");
    assertEquals(run, { status: 0, stdout: `captured: src ${sequence}\n`, stderr: "" });
  }
  assertEquals(sources.keys(), ["procevent:src:1", "procevent:src:2"]);
  assertEquals([sources.result("src.1.result"), sources.result("src.2.adapter")], ["x", "plain\n"]);
  assertEquals(sources.claim("src"), []);
  assertEquals(existing(sources.home.path("state/procevent")), ["src.source"]);
});

Deno.test("procevent start: a command that fails silently is no result", async () => {
  await using sources = new Sources();
  await sources.register("src", "exit 3");
  assertEquals((await sources.run("start", "src")).stdout, "no-result: src (exit 3)\n");
  await sources.run("register", "plain", "gone", "--", "/nowhere/at/all");
  assertEquals((await sources.run("start", "gone")).stdout, "no-result: gone (exit 127)\n");
  assertEquals([sources.inbox(), sources.keys(), sources.claim("src")], [[], [], []]);
});

Deno.test("procevent start: output beyond the limit is dropped, and that is said", async () => {
  await using sources = new Sources();
  await sources.register("src", "head -c 3000000 /dev/zero");
  const run = await sources.run("start", "src");
  assertEquals(run.stderr, "truncated: src at 1048576 bytes\n");
  const { size } = Deno.statSync(sources.home.path("state/procevent-inbox/src.1.result"));
  assertEquals(size, 1_048_576);
});

Deno.test("procevent reconcile: starts one runner, which nobody else displaces", async () => {
  await using sources = new Sources();
  const other = sources.neighbour();
  await sources.register("src", "exec sleep 600");
  await other.register("src", "exec sleep 600");
  const first = await sources.run("reconcile");
  assertEquals(
    first.stdout,
    "reconciled: published=0 started=1 stopped=0 uncertain=0 failed=0\n",
    first.stderr,
  );
  const before = sources.claim("src");
  assertEquals([before[0], before[4], before[6]], [
    sources.home.root,
    sources.home.path("state/procevent"),
    "active",
  ]);
  assertEquals(
    (await sources.run("list")).stdout,
    `src (plain) live pid=${sources.runner("src")}\n`,
  );
  for (const one of [sources, other]) {
    assertEquals((await one.run("start", "src")).stdout, "already owned: src\n");
    assertMatch((await one.run("reconcile")).stdout, /started=0 stopped=0 uncertain=0/);
  }
  assertEquals(sources.claim("src"), before);
});

Deno.test("procevent reconcile: of many at once only one starts the runner", async () => {
  await using sources = new Sources();
  await sources.register("src", `echo $$ >> '${sources.home.folder}/starts'; exec sleep 600`);
  const runs = await Promise.all([1, 2, 3, 4].map(() => sources.run("reconcile")));
  assertEquals(runs.map((run) => run.status), [0, 0, 0, 0]);
  await until(() => existing(sources.home.folder).includes("starts"));
  const starts = Deno.readTextFileSync(`${sources.home.folder}/starts`).trim().split("\n");
  assertEquals(starts.length, 1);
});

Deno.test("procevent reconcile: after a killed runner its group goes before a new one", async () => {
  await using sources = new Sources();
  await sources.register("src", "trap '' TERM; sleep 600; sleep 600");
  await sources.run("reconcile");
  const killed = sources.runner("src");
  Deno.kill(killed, "SIGKILL");
  const again = await sources.run("reconcile");
  assertMatch(again.stdout, /started=1 stopped=1 uncertain=0/);
  assertEquals(isGroupRunning(killed), false);
  assert(sources.runner("src") !== killed);
  assert(isGroupRunning(sources.runner("src")));
});

Deno.test("procevent reconcile: what is no longer registered is ended", async () => {
  await using sources = new Sources();
  await sources.register("src", "exec sleep 600");
  await sources.run("reconcile");
  const runner = sources.runner("src");
  sources.home.remove("state/procevent/src.source");
  assertMatch((await sources.run("reconcile")).stdout, /started=0 stopped=1/);
  assertEquals([isGroupRunning(runner), sources.claim("src")], [false, []]);
});

Deno.test("procevent reconcile: a claim that cannot be read is left, and told once", async () => {
  await using sources = new Sources();
  await sources.register("src", "printf x");
  Deno.writeTextFileSync(`${sources.claims}/src.claim`, "torn");
  for (let round = 0; round < 2; round++) {
    assertMatch((await sources.run("reconcile")).stdout, /started=0 stopped=0 uncertain=1/);
  }
  assertEquals((await sources.run("start", "src")).stdout, "already owned: src\n");
  assertEquals(sources.keys(), ["procevent:src:stranded:unreadable"]);
  assertEquals(sources.claim("src"), ["torn"]);
});

Deno.test("procevent reconcile: a retirement cut short is finished", async () => {
  await using sources = new Sources();
  await sources.register("src", "exec sleep 600");
  await sources.run("reconcile");
  const lines = [...sources.claim("src")];
  Deno.kill(-sources.runner("src"), "SIGKILL");
  lines[6] = "terminal";
  Deno.writeTextFileSync(`${sources.claims}/src.claim`, lines.join("\n"));
  assertMatch((await sources.run("reconcile")).stdout, /started=0/);
  assertEquals([existing(sources.home.path("state/procevent")), sources.claim("src")], [[], []]);
});

Deno.test("procevent handled: ends the publishing of a result, once", async () => {
  await using sources = new Sources();
  await sources.register("src", "printf x");
  await sources.run("start", "src");
  sources.home.remove("state/procevent/src.source").remove("state/.wake-queue");
  assertMatch((await sources.run("reconcile")).stdout, /published=1/);
  assertMatch((await sources.run("reconcile")).stdout, /published=1/);
  assertEquals(sources.keys(), ["procevent:src:1"]);
  assertEquals((await sources.run("handled", "src", "1")).stdout, "handled: src 1\n");
  assertEquals((await sources.run("handled", "src", "1")).stdout, "already-handled: src 1\n");
  sources.home.remove("state/.wake-queue");
  assertMatch((await sources.run("reconcile")).stdout, /published=0/);
  assertEquals(sources.keys(), []);
});

Deno.test("procevent start: a terminal result retires the source", async () => {
  await using sources = new Sources();
  sources.adapter("once", `[ "$1" = terminal ] && [ "$(cat "$2")" = last ]`);
  await sources.register("src", "printf last", "once");
  assertEquals((await sources.run("start", "src")).stdout, "captured: src 1\n");
  assertEquals(existing(sources.home.path("state/procevent")), []);
  assertEquals([sources.keys(), sources.claim("src")], [["procevent:src:1"], []]);
});

Deno.test("procevent start: what a self-announcing adapter applies is not published", async () => {
  await using sources = new Sources();
  sources.adapter(
    "self",
    `case "$1" in self-announcing) exit 0;; autohandle) [ "$(cat "$4")" = mine ];; *) exit 1;; esac`,
  );
  await sources.register("a", "printf mine", "self");
  await sources.register("b", "printf other", "self");
  await sources.run("start", "a");
  await sources.run("start", "b");
  assertEquals(sources.keys(), ["procevent:b:1"]);
  assertEquals(sources.inbox().filter((name) => name.endsWith(".handled")), ["a.1.handled"]);
});

Deno.test("procevent retire: ends the runner and forgets the source", async () => {
  await using sources = new Sources();
  await sources.register("src", "exec sleep 600");
  await sources.run("reconcile");
  const runner = sources.runner("src");
  assertEquals((await sources.run("retire", "src")).stdout, "retired: src\n");
  assertEquals([isGroupRunning(runner), sources.claim("src")], [false, []]);
  assertEquals(existing(sources.home.path("state/procevent")), []);
});

Deno.test("procevent sweep-home: ends everything of this home and nothing else", async () => {
  await using sources = new Sources();
  const other = sources.neighbour();
  await sources.register("a", "exec sleep 600");
  await sources.register("b", "exec sleep 600");
  await other.register("c", "exec sleep 600");
  for (const one of [sources, other]) await one.run("reconcile");
  assertEquals((await sources.run("sweep-home", "--preflight")).stdout, "could be swept: 2\n");
  assertEquals(existing(sources.claims).filter((name) => name.endsWith(".claim")).length, 3);
  assertEquals((await sources.run("sweep-home")).stdout, "swept: 2\n");
  assertEquals(existing(sources.claims).filter((name) => name.endsWith(".claim")), ["c.claim"]);
  assert(isGroupRunning(other.runner("c")));
});

Deno.test("procevent start: a stop ends the command and releases the claim", async () => {
  await using sources = new Sources();
  await sources.register("src", "exec sleep 600");
  const start = startTurnguard(["procevent", "start", "src", ...sources.home.args], {
    env: sources.env,
  });
  let runner = 0;
  try {
    await until(() => sources.claim("src").length > 1);
    runner = sources.runner("src");
  } finally {
    start.kill("SIGTERM");
    assertEquals((await start.status).code, 143);
  }
  assertEquals([isGroupRunning(runner), sources.claim("src")], [false, []]);
  assertEquals(existing(sources.home.path("state/procevent")), ["src.source"]);
});

Deno.test("procevent: a claim root behind a link is refused", async () => {
  await using sources = new Sources();
  Deno.symlinkSync(sources.home.folder, sources.claims);
  const run = await sources.run("reconcile");
  assertEquals(run.status, 1);
  assertMatch(run.stderr, /^error: the claim root .* is a symbolic link\n$/);
});

Deno.test("procevent: without a state directory nothing is made", async () => {
  await using sources = new Sources();
  sources.home.remove("state");
  const run = await sources.run("register", "plain", "a", "--", "x");
  assertEquals([run.status, run.stdout], [1, ""]);
  assertMatch(run.stderr, /^error: there is no state directory at /);
  assertEquals(existing(sources.home.root).includes("state"), false);
  assertEquals(existing(sources.home.folder), ["home"]);
});

Deno.test("procevent reconcile: a source that cannot be started is told once, until it can", async () => {
  await using sources = new Sources();
  await sources.register("src", "exec sleep 600");
  const broken = { ...sources.env, FM_PROCEVENT_MAX_OUTPUT_BYTES: "many" };
  const args = ["procevent", "reconcile", ...sources.home.args];
  for (let round = 0; round < 2; round++) {
    assertMatch((await runTurnguard(args, { env: broken })).stdout, /started=0 .* failed=1\n$/);
  }
  assertEquals(sources.keys().length, 1);
  assertMatch(sources.keys()[0] ?? "", /^procevent:src:launch-failed:[0-9]+-[0-9]+-[A-Za-z0-9]+$/);
  assertMatch((await sources.run("reconcile")).stdout, /started=1 .* failed=0\n$/);
  await sources.run("retire", "src");
  await sources.register("src", "exec sleep 600");
  await runTurnguard(args, { env: broken });
  assertEquals(sources.keys().length, 2);
});
