/**
 * `deadman` over real homes: what is sampled, when somebody is told, and that the home stays as it is.
 *
 * No test makes a schedule: with `--backend none` the samples are the test's to take.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { makeHome, type TestHome } from "../support/home.ts";
import { HARD_NAMES } from "../support/install.ts";
import { until } from "../support/processes.ts";
import { isFile } from "../support/files.ts";
import { snapshot } from "../support/snapshot.ts";
import {
  environmentOf,
  type RunOptions,
  type RunResult,
  runTurnguard,
  TURNGUARD,
} from "../support/turnguard.ts";

/** Notes its arguments and its input, each call in a line, and ends as the file beside it says. */
const TELLER = `#!/bin/sh
input=$(cat)
for last; do :; done
printf '%s|%s|%s\\n' "$#" "$last" "$input" >> "$0.log"
[ -f "$0.status" ] && exit "$(cat "$0.status")"
exit 0
`;

/** A home with a user around it, and a command that can be told. */
class Operator {
  readonly home: TestHome;
  readonly user: string;
  readonly teller: string;

  constructor(home: TestHome) {
    this.home = home;
    this.user = join(home.folder, "user");
    this.teller = join(this.user, "it's a teller");
    Deno.mkdirSync(this.user);
    Deno.writeTextFileSync(this.teller, TELLER, { mode: 0o755 });
  }

  deadman(args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
    const [action = "", ...rest] = args;
    const env = { HOME: this.user, ...options.env };
    return runTurnguard(["deadman", action, ...this.home.args, ...rest], { ...options, env });
  }

  /** Installs it without a grace after boot, since a test machine may just have been started. */
  async install(flags: readonly string[] = [], options: RunOptions = {}): Promise<RunResult> {
    const result = await this.deadman([
      "install",
      "--backend",
      "none",
      "--boot-grace",
      "0",
      ...flags,
      "--",
      this.teller,
      "--to",
    ], options);
    assertEquals([result.status, result.stderr], [0, ""]);
    return result;
  }

  async sample(options: RunOptions = {}): Promise<RunResult> {
    return await this.deadman(["run"], options);
  }

  /** Lines that the command wrote. */
  told(): readonly string[] {
    try {
      return Deno.readTextFileSync(`${this.teller}.log`).trimEnd().split("\n");
    } catch {
      return [];
    }
  }

  tellerEndsWith(status: number): void {
    Deno.writeTextFileSync(`${this.teller}.status`, String(status));
  }

  get records(): string {
    return join(this.user, ".local/state/turnguard/deadman");
  }

  get record(): string {
    const [entry] = Deno.readDirSync(this.records);
    assert(entry !== undefined);
    return join(this.records, entry.name);
  }

  /** Moves what is remembered into the past, as if that time had gone by. */
  letPass(seconds: number): void {
    const text = Deno.readTextFileSync(this.record).replaceAll(
      /("\w*[aA]tSeconds": |"streakSinceSeconds": )(\d+)/g,
      (_, name: string, second: string) => `${name}${Number(second) - seconds}`,
    );
    Deno.writeTextFileSync(this.record, text);
  }
}

Deno.test("deadman run: without need it is silent, and the home stays byte for byte", async () => {
  await using home = makeHome();
  const operator = new Operator(home);
  const before = snapshot(home.root);
  await operator.install();
  for (let count = 0; count < 3; count++) {
    assertEquals(await operator.sample(), { status: 0, stdout: "", stderr: "" });
  }
  assertEquals(operator.told(), []);
  assertEquals(snapshot(home.root), before);
});

Deno.test("deadman run: need without a watcher is told at the second sample, once a cooldown", async () => {
  await using home = makeHome();
  home.task();
  const operator = new Operator(home);
  await operator.install();
  const before = snapshot(home.root);
  assertEquals(await operator.sample(), { status: 0, stdout: "", stderr: "" });
  operator.letPass(300);
  const second = await operator.sample();
  assertEquals([second.status, second.stdout], [1, ""]);
  assertMatch(second.stderr, /^turnguard: work in .* Told; again in 60 min at the earliest\.\n$/);
  operator.letPass(300);
  assertEquals(await operator.sample(), { status: 1, stdout: "", stderr: "" });
  const [line = ""] = operator.told();
  assertEquals(operator.told().length, 1);
  const message = `turnguard: work in ${home.root} is unsupervised: 1 task(s) in flight; ` +
    "watcher unheld: nobody holds the lock; away mode is off. Seen in 2 samples over N s.";
  assertEquals(line.replaceAll(/over 3\d\d s/g, "over N s"), `2|${message}|${message}`);
  for (let passed = 300; passed < 3_600; passed += 600) {
    operator.letPass(600);
    await operator.sample();
  }
  assertEquals(operator.told().length, 2);
  assertEquals(snapshot(home.root), before);
  assertEquals([...Deno.readDirSync(home.state)].map(({ name }) => name), ["task1.meta"]);
});

Deno.test("deadman run: a watcher that is back ends the alarm, and two samples are needed anew", async () => {
  await using home = makeHome();
  home.task();
  const operator = new Operator(home);
  await operator.install();
  await operator.sample();
  assertEquals((await operator.sample()).status, 1);
  const watcher = await home.watcher(5);
  assertEquals(await operator.sample(), { status: 0, stdout: "", stderr: "" });
  await watcher.end();
  assertEquals((await operator.sample()).status, 0);
  assertEquals((await operator.sample()).status, 1);
  assertEquals(operator.told().length, 1);
});

Deno.test("deadman run: the away daemon counts as it does for the guard", async () => {
  await using home = makeHome();
  const operator = new Operator(home);
  await operator.install();
  await home.task().away().beat(3).daemon();
  await operator.sample();
  assertEquals(await operator.sample(), { status: 0, stdout: "", stderr: "" });
});

Deno.test("deadman run: after sleep one sample is not enough", async () => {
  await using home = makeHome();
  home.task();
  const operator = new Operator(home);
  await operator.install();
  await operator.sample();
  operator.letPass(8 * 3_600);
  assertEquals((await operator.sample()).status, 0);
  assertEquals(operator.told(), []);
  assertEquals((await operator.sample()).status, 1);
  assertEquals(operator.told().length, 1);
});

Deno.test("deadman run: in the grace after boot nothing is judged", async () => {
  await using home = makeHome();
  home.task();
  const operator = new Operator(home);
  const proc = join(home.folder, "proc");
  Deno.mkdirSync(proc);
  const env = { FM_PROC_ROOT_OVERRIDE: proc };
  Deno.writeTextFileSync(join(proc, "uptime"), "599.9 1.0\n");
  await operator.install(["--boot-grace", "600"], { env });
  for (let count = 0; count < 3; count++) assertEquals((await operator.sample()).status, 0);
  assertMatch((await operator.deadman(["status"])).stdout, /^sample {3}grace, /m);
  Deno.writeTextFileSync(join(proc, "uptime"), "600.0 1.0\n");
  assertEquals((await operator.sample()).status, 0);
  assertEquals((await operator.sample()).status, 1);
  assertEquals(operator.told().length, 1);
});

Deno.test("deadman run: what cannot be judged is said once, and does not count", async () => {
  await using home = makeHome();
  home.task();
  const operator = new Operator(home);
  await operator.install();
  await operator.sample();
  home.remove("AGENTS.md");
  const first = await operator.sample();
  assertEquals(first.status, 3);
  assertStringIncludes(first.stderr, "not determined: the home is not guarded: no AGENTS.md");
  assertEquals(await operator.sample(), { status: 3, stdout: "", stderr: "" });
  assertEquals(operator.told(), []);
  home.write("AGENTS.md");
  assertEquals((await operator.sample()).status, 1);
  assertEquals(operator.told().length, 1);
});

Deno.test("deadman run: a home that is gone is not determined, and is not made again", async () => {
  await using home = makeHome();
  const operator = new Operator(home);
  await operator.install();
  Deno.removeSync(home.root, { recursive: true });
  assertEquals((await operator.sample()).status, 3);
  assertEquals([...Deno.readDirSync(home.folder)].map(({ name }) => name), ["user"]);
});

Deno.test("deadman run: a command that fails is tried again, but no sooner than an interval", async () => {
  await using home = makeHome();
  home.task();
  const operator = new Operator(home);
  await operator.install();
  operator.tellerEndsWith(7);
  await operator.sample();
  const failed = await operator.sample();
  assertEquals(failed.status, 1);
  assertMatch(failed.stderr, /could not tell .*: it ended with status 7; .* tried again/);
  assertEquals(await operator.sample(), { status: 1, stdout: "", stderr: "" });
  assertEquals(operator.told().length, 1);
  const { stdout } = await operator.deadman(["status"]);
  assertMatch(stdout, /last try \d+ s ago: FAILED: it ended with status 7$/m);
  operator.letPass(300);
  operator.tellerEndsWith(0);
  assertMatch((await operator.sample()).stderr, /Told;/);
  assertEquals(operator.told().length, 2);
});

Deno.test("deadman run: a command that is gone is a failure like any other", async () => {
  await using home = makeHome();
  home.task();
  const operator = new Operator(home);
  await operator.install();
  Deno.removeSync(operator.teller);
  await operator.sample();
  const { status, stderr } = await operator.sample();
  assertEquals(status, 1);
  assertStringIncludes(stderr, "it cannot be started");
});

Deno.test("deadman run: what the command leaves running is ended", async () => {
  await using home = makeHome();
  home.task();
  const operator = new Operator(home);
  const left = join(home.folder, "left");
  Deno.writeTextFileSync(
    operator.teller,
    `#!/bin/sh\n/bin/sleep 1000 > /dev/null &\necho $! > ${left}\n`,
  );
  await operator.install();
  await operator.sample();
  assertEquals((await operator.sample()).status, 1);
  const pid = Number(Deno.readTextFileSync(left));
  await until(() => !isRunning(pid));
});

Deno.test("deadman run: asked to stop, it ends the command, which is started again later", async () => {
  await using home = makeHome();
  home.task();
  const operator = new Operator(home);
  const started = join(home.folder, "started");
  Deno.writeTextFileSync(
    operator.teller,
    `#!/bin/sh\necho $$ > ${started}\nexec /bin/sleep 1000\n`,
  );
  await operator.install();
  await operator.sample();
  const child = new Deno.Command(TURNGUARD, {
    args: ["deadman", "run", ...home.args],
    clearEnv: true,
    env: environmentOf({ HOME: operator.user }),
    cwd: "/",
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  try {
    await until(() => isFile(started) && Deno.readTextFileSync(started).endsWith("\n"));
  } finally {
    child.kill("SIGTERM");
    assertEquals((await child.status).code, 143);
  }
  assertEquals(isRunning(Number(Deno.readTextFileSync(started))), false);
  assertMatch((await operator.deadman(["status"])).stdout, /last try .*: not known to have ended/);
  Deno.writeTextFileSync(operator.teller, TELLER);
  operator.letPass(300);
  assertEquals((await operator.sample()).status, 1);
  assertEquals(operator.told().length, 1);
});

/** Whether the process runs; one that ended but was not collected does not. */
function isRunning(pid: number): boolean {
  try {
    Deno.kill(pid, 0);
    if (Deno.build.os !== "linux") return true;
    return !/\) Z /.test(Deno.readTextFileSync(`/proc/${pid}/stat`));
  } catch {
    return false;
  }
}

Deno.test("deadman run: nothing from a lock file steers a terminal or the command", async () => {
  await using home = makeHome();
  await home.task().watcher(5, { home: "/evil\u001b[31m\u202e" });
  const operator = new Operator(home);
  await operator.install();
  await operator.sample();
  const { stderr } = await operator.sample();
  const [line = ""] = operator.told();
  for (const text of [stderr, line]) {
    assertStringIncludes(text, "/evil\\x1b[31m\\u{202e}");
    // deno-lint-ignore no-control-regex -- control characters are what must not be there
    assert(!/[\u0000-\u0009\u000b-\u001f\u007f\u202e]/.test(text));
  }
});

Deno.test("deadman run: two at once take one sample", async () => {
  await using home = makeHome();
  home.task();
  const operator = new Operator(home);
  await operator.install();
  await operator.sample();
  const runs = await Promise.all([1, 2, 3, 4].map(() => operator.sample()));
  assertEquals(operator.told().length, 1);
  assert(runs.every(({ status }) => status === 1 || status === 3));
  assertEquals([...Deno.readDirSync(operator.records)].length, 1);
});

Deno.test("deadman run: the line that install shows works with another user's folders", async () => {
  for (const name of HARD_NAMES) {
    await using home = makeHome({ name });
    home.task();
    const operator = new Operator(home);
    const { stdout } = await operator.install();
    const line = stdout.split("\n")[1] ?? "";
    for (const status of [0, 1]) {
      const { code } = await new Deno.Command("/bin/sh", {
        args: ["-c", line],
        clearEnv: true,
        env: { HOME: "/nowhere", FM_HOME: "/nowhere" },
        cwd: "/",
        stdout: "null",
        stderr: "null",
      }).output();
      assertEquals(code, status, line);
    }
    assertEquals(operator.told().length, 1);
  }
});

Deno.test("deadman run: a home is judged with the settings of its installation", async () => {
  await using home = makeHome();
  await home.task().watcher(400);
  const operator = new Operator(home);
  await operator.install([], { env: { FM_GUARD_GRACE: "900" } });
  await operator.sample();
  assertEquals((await operator.sample()).status, 0);
  await operator.install([], { env: {} });
  await operator.sample({ env: { FM_GUARD_GRACE: "900" } });
  assertEquals((await operator.sample({ env: { FM_GUARD_GRACE: "900" } })).status, 1);
});

Deno.test("deadman run: without an installation it says so and makes nothing", async () => {
  await using home = makeHome();
  const operator = new Operator(home);
  const before = snapshot(home.folder);
  const { status, stderr } = await operator.sample();
  assertEquals(status, 1);
  assertStringIncludes(stderr, "no deadman is installed");
  assertEquals(snapshot(home.folder), before);
});

Deno.test("deadman run: a record that others may write starts nothing", async () => {
  await using home = makeHome();
  home.task();
  const operator = new Operator(home);
  await operator.install();
  Deno.chmodSync(operator.record, 0o666);
  for (let count = 0; count < 2; count++) assertEquals((await operator.sample()).status, 1);
  assertEquals(operator.told(), []);
});

Deno.test("deadman run: a sample that cannot be kept tells nobody", async () => {
  await using home = makeHome();
  home.task();
  const operator = new Operator(home);
  await operator.install();
  const record = operator.record;
  await operator.sample();
  Deno.removeSync(record);
  Deno.mkdirSync(record);
  assertEquals((await operator.sample()).status, 1);
  assertEquals(operator.told(), []);
});

Deno.test("deadman install: again keeps what is remembered, and takes the new command", async () => {
  await using home = makeHome();
  home.task();
  const operator = new Operator(home);
  await operator.install();
  await operator.sample();
  await operator.sample();
  await operator.install(["--cooldown", "7200"]);
  await operator.sample();
  assertEquals(operator.told().length, 1);
  const { stdout } = await operator.deadman(["status", "--json"]);
  const report: Record<string, unknown> = JSON.parse(stdout);
  assertEquals([report["cooldownSeconds"], report["streak"], report["alarm"]], [7_200, 3, true]);
});

const REFUSED: ReadonlyArray<
  readonly [what: string, args: readonly string[], status: number, says: string]
> = [
  ["no command", [], 2, "say what is to tell you"],
  ["an empty command", ["--", ""], 2, "say what is to tell you"],
  ["a command that is not there", ["--", "/no/such"], 1, "there is no program /no/such"],
  ["an interval too short", ["--interval", "59", "--", "/bin/sh"], 2, "from 60 to 86400"],
  ["a cooldown that is no number", ["--cooldown", "1h", "--", "/bin/sh"], 2, "--cooldown"],
  ["an unknown scheduler", ["--backend", "at", "--", "/bin/sh"], 2, "systemd, launchd, cron, none"],
  ["a flag of another action", ["--json", "--", "/bin/sh"], 2, "does not belong to install"],
];

for (const [what, args, status, says] of REFUSED) {
  Deno.test(`deadman install: ${what} is refused, and nothing is written`, async () => {
    await using home = makeHome();
    const operator = new Operator(home);
    const before = snapshot(home.folder);
    const result = await operator.deadman(["install", ...args]);
    assertEquals([result.status, result.stdout], [status, ""]);
    assertStringIncludes(result.stderr, says);
    assertEquals(snapshot(home.folder), before);
  });
}

Deno.test("deadman install: a home that is not guarded is refused", async () => {
  await using home = makeHome({ git: "linked-worktree" });
  const operator = new Operator(home);
  const { status, stderr } = await operator.deadman(["install", "--", "/bin/sh"]);
  assertEquals(status, 1);
  assertStringIncludes(stderr, "is not guarded: linked worktree");
});

Deno.test("deadman install: the record may not lie in the home, through a link neither", async () => {
  await using home = makeHome();
  const operator = new Operator(home);
  Deno.symlinkSync(home.root, join(home.folder, "link"));
  const before = snapshot(home.folder);
  for (const folder of [home.path("state"), join(home.folder, "link/new")]) {
    const env = { XDG_STATE_HOME: folder };
    const args = ["install", "--backend", "none", "--", "/bin/sh"];
    const { status, stderr } = await operator.deadman(args, { env });
    assertEquals(status, 1);
    assertStringIncludes(stderr, "would lie in the home");
  }
  assertEquals(snapshot(home.folder), before);
});

Deno.test("deadman install: --dry-run shows every schedule anywhere and writes nothing", async () => {
  await using home = makeHome();
  const operator = new Operator(home);
  const before = snapshot(home.folder);
  const shown = { systemd: "[Timer]", launchd: "<plist", cron: "*/5 * * * *", none: "deadman run" };
  for (const [backend, part] of Object.entries(shown)) {
    const args = ["install", "--backend", backend, "--dry-run", "--", "/bin/sh"];
    const { status, stdout, stderr } = await operator.deadman(args);
    assertEquals(status, 0);
    assertStringIncludes(stdout, part);
    assertEquals(stderr, "turnguard deadman: dry run; nothing was written\n");
  }
  assertEquals(snapshot(home.folder), before);
});

Deno.test("deadman uninstall: takes away what install wrote, also when the home is gone", async () => {
  await using home = makeHome();
  const operator = new Operator(home);
  await operator.install();
  Deno.removeSync(home.root, { recursive: true });
  assertEquals((await operator.deadman(["uninstall"])).status, 0);
  assertEquals([...Deno.readDirSync(operator.records)], []);
  const again = await operator.deadman(["uninstall"]);
  assertEquals([again.status, again.stdout], [0, "No deadman is installed here.\n"]);
});

Deno.test("deadman status: nothing installed, never sampled, and everything", async () => {
  await using home = makeHome();
  home.task();
  const operator = new Operator(home);
  assertMatch((await operator.deadman(["status"])).stdout, /^deadman {2}not installed$/m);
  await operator.install();
  assertMatch((await operator.deadman(["status"])).stdout, /^sample {3}none yet$/m);
  await operator.sample();
  await operator.sample();
  operator.letPass(1_000);
  const { status, stdout, stderr } = await operator.deadman(["status"]);
  assertEquals([status, stderr], [0, ""]);
  assertMatch(stdout, /^sample {3}unhealthy, 16 min ago: 1 task\(s\) in flight; /m);
  assertMatch(stdout, /^ +OVERDUE: /m);
  assertMatch(stdout, /^streak {3}2 unhealthy samples in a row$/m);
  assertMatch(stdout, /^alarm {4}told 16 min ago$/m);
  assertMatch(stdout, /^next {5}an alarm may be told in 43 min$/m);
});

Deno.test("deadman status --json: has the documented keys, and no argument of the command", async () => {
  await using home = makeHome();
  const operator = new Operator(home);
  const keys = async () =>
    Object.keys(JSON.parse((await operator.deadman(["status", "--json"])).stdout));
  assertEquals(await keys(), ["root", "home", "record", "installed"]);
  await operator.install();
  await operator.sample();
  assertEquals(await keys(), [
    "root",
    "home",
    "record",
    "installed",
    "backend",
    "schedule",
    "intervalSeconds",
    "cooldownSeconds",
    "bootGraceSeconds",
    "notify",
    "sample",
    "overdue",
    "streak",
    "alarm",
    "toldAtSeconds",
    "attempt",
    "nextAlarmAtSeconds",
  ]);
  const { stdout } = await operator.deadman(["status", "--json"]);
  assert(!stdout.includes("--to"));
});
