/**
 * Files of a home in every state that a crash, a full disk or a stranger can leave them in.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { join } from "@std/path";
import { exists } from "../support/files.ts";
import { makeHome, type TestHome } from "../support/home.ts";
import { AS_OTHER_USER, asOtherUser } from "../support/processes.ts";
import { snapshot } from "../support/snapshot.ts";
import {
  FIRST_STOP,
  repairLineOf,
  runProgram,
  type RunResult,
  runTurnguard,
  tabulate,
  TURNGUARD,
  verdictOf,
} from "../support/turnguard.ts";

function stop(home: TestHome, env: Readonly<Record<string, string>> = {}): Promise<RunResult> {
  return runTurnguard(["stop", ...home.args], {
    stdin: FIRST_STOP,
    env: { CLAUDECODE: "1", ...home.env, ...env },
  });
}

/** What can happen to a file. Each makes something at `path`, where nothing is. */
const DAMAGES = {
  torn: (path, before) => Deno.writeFileSync(path, before.subarray(0, before.length >> 1)),
  empty: (path) => Deno.writeFileSync(path, new Uint8Array()),
  "full of NULs": (path) => Deno.writeFileSync(path, new Uint8Array(4096)),
  "10 MB": (path) => Deno.writeFileSync(path, new Uint8Array(10_000_000).fill(0x31)),
  "a folder": (path) => Deno.mkdirSync(path),
  "a link to itself": (path) => Deno.symlinkSync(path, path),
  "a FIFO": (path) => {
    const { success } = new Deno.Command("/usr/bin/mkfifo", { args: [path] }).outputSync();
    assert(success);
  },
  gone: () => {},
} as const satisfies Readonly<Record<string, (path: string, before: Uint8Array) => void>>;

type Damage = keyof typeof DAMAGES;

const LINKS_TO_NOWHERE: readonly Damage[] = ["a link to itself", "gone"];

/** A file, the verdict when it is damaged, and the damages after which the verdict is the other one. */
type DamageRow = readonly [
  file: string,
  verdict: "allow" | "block",
  otherwise: readonly Damage[],
];

/** In a home with a task below a healthy watcher, where everything whole means `allow`. */
const WATCHED: readonly DamageRow[] = [
  ["state/.watch.lock/pid", "block", []],
  ["state/.watch.lock/fm-home", "block", []],
  ["state/.watch.lock/watcher-path", "block", []],
  ["state/.watch.lock/pid-identity", "block", []],
  ["state/.watch.lock", "block", []],
  // Only the time of the beacon matters, whatever it is made of.
  ["state/.last-watcher-beat", "allow", LINKS_TO_NOWHERE],
  ["state/.afk", "allow", []],
  ["state/.supervise-daemon.lock", "allow", []],
];

/** In a home with a task below the daemon of away mode. */
const AWAY: readonly DamageRow[] = [
  ["state/.afk", "allow", LINKS_TO_NOWHERE],
  ["state/.supervise-daemon.lock/pid", "block", []],
  ["state/.supervise-daemon.lock/pid-identity", "block", []],
  ["state/.supervise-daemon.lock", "block", []],
  ["state/.last-watcher-beat", "allow", LINKS_TO_NOWHERE],
];

/** In a home with a task and nobody who supervises, where everything whole means `block`. */
const UNSUPERVISED: readonly DamageRow[] = [
  ["state/task1.meta", "block", LINKS_TO_NOWHERE],
  ["state/.watch.lock", "block", []],
  ["state/.afk", "block", []],
  ["state/.supervise-daemon.lock", "block", []],
  ["state/procevent", "block", []],
  ["config/x-mode.env", "block", []],
  [".fm-secondmate-home", "block", []],
  // Git takes a checkout without a valid HEAD for none.
  [".git/HEAD", "allow", ["torn"]],
  [".git/objects", "allow", ["a folder"]],
  [".git", "allow", []],
  ["AGENTS.md", "allow", ["torn", "empty", "full of NULs", "10 MB"]],
  ["bin", "allow", ["a folder"]],
];

/** In a home where only one source, check or relay needs supervision. */
const OTHER_NEEDS: readonly DamageRow[] = [
  ["state/procevent/a.source", "block", LINKS_TO_NOWHERE],
];
const CHECK: readonly DamageRow[] = [
  ["state/c1.check.sh", "block", LINKS_TO_NOWHERE],
  ["state/c1.check-trust", "block", LINKS_TO_NOWHERE],
];
const RELAY: readonly DamageRow[] = [
  ["state/x-watch.check.sh", "block", [...LINKS_TO_NOWHERE, "a folder", "a FIFO"]],
];

const DAMAGED_HOMES: ReadonlyArray<
  readonly [what: string, arrange: (home: TestHome) => unknown, rows: readonly DamageRow[]]
> = [
  ["below a healthy watcher", (home) => home.task().watcher(5, { layout: "directory" }), WATCHED],
  ["in away mode", async (home) => {
    home.task().away().beat(5);
    await home.daemon({ layout: "directory" });
  }, AWAY],
  ["without supervision", (home) => home.task(), UNSUPERVISED],
  ["with a source alone", (home) => home.source(), OTHER_NEEDS],
  ["with a check alone", (home) => home.check(), CHECK],
  ["with the relay alone", (home) => home.relay(), RELAY],
];

for (const [what, arrange, rows] of DAMAGED_HOMES) {
  Deno.test(`stop: ${what} no damage to a file makes more than a verdict`, async () => {
    const cases = rows.flatMap(([file, verdict, otherwise]) =>
      names(DAMAGES).map((damage) => {
        const other = verdict === "allow" ? "block" : "allow";
        const expected = otherwise.includes(damage) ? other : verdict;
        return { file, damage, expected, name: `${file} is ${damage}` };
      })
    );
    const actual = await tabulate(cases, ({ name }) => name, async ({ file, damage }) => {
      await using home = makeHome();
      await arrange(home);
      inflict(home, file, damage);
      const before = snapshot(home.folder);
      const verdict = verdictOf(await stop(home));
      assertEquals(snapshot(home.folder), before);
      return verdict;
    });
    const expected = Object.fromEntries(cases.map(({ name, expected }) => [name, expected]));
    assertEquals(actual, expected);
  });
}

function inflict(home: TestHome, file: string, damage: Damage): void {
  const path = home.path(file);
  Deno.mkdirSync(join(path, ".."), { recursive: true });
  const before = contents(path);
  if (exists(path)) Deno.removeSync(path, { recursive: true });
  DAMAGES[damage](path, before);
}

/** The verdict that another user gets, to whom the modes of files mean something. */
async function stopAsOtherUser(home: TestHome): Promise<string> {
  const command = asOtherUser([TURNGUARD, "stop", ...home.args]) ?? [];
  return verdictOf(await runProgram(command, { stdin: FIRST_STOP, env: home.env }));
}

Deno.test(
  "stop: a state folder that may not be read is allowed (needs the superuser)",
  AS_OTHER_USER,
  async () => {
    await using home = makeHome().task();
    assertEquals(await stopAsOtherUser(home), "block");
    Deno.chmodSync(home.state, 0o311);
    assertEquals(await stopAsOtherUser(home), "allow");
    Deno.chmodSync(home.state, 0o000);
    assertEquals(await stopAsOtherUser(home), "allow");
    Deno.chmodSync(home.root, 0o000);
    assertEquals(await stopAsOtherUser(home), "allow");
    Deno.chmodSync(home.root, 0o755);
  },
);

Deno.test(
  "stop: closed files below the state folder are no proof of supervision (needs the superuser)",
  AS_OTHER_USER,
  async () => {
    const files = ["pid", "fm-home", "watcher-path", "pid-identity", ""];
    const actual = await tabulate(files, (file) => file, async (file) => {
      await using home = makeHome().task();
      await home.watcher(5, { layout: "directory" });
      Deno.chmodSync(home.path("state/.watch.lock", file), 0o000);
      const verdict = await stopAsOtherUser(home);
      Deno.chmodSync(home.path("state/.watch.lock", file), 0o700);
      return verdict;
    });
    assertEquals([...new Set(Object.values(actual))], ["block"], JSON.stringify(actual));
  },
);

Deno.test(
  "stop: a read-only state folder changes no verdict (needs the superuser)",
  AS_OTHER_USER,
  async () => {
    await using home = makeHome().task();
    Deno.chmodSync(home.state, 0o555);
    assertEquals(await stopAsOtherUser(home), "block");
    assertEquals([...Deno.readDirSync(home.state)].map(({ name }) => name), ["task1.meta"]);
  },
);

Deno.test("stop: a state folder that is a file, a loop or a FIFO is out of scope", async () => {
  const actual = await tabulate(names(DAMAGES), (damage) => damage, async (damage) => {
    await using home = makeHome().task();
    inflict(home, "state", damage);
    return verdictOf(await stop(home));
  });
  assertEquals([...new Set(Object.values(actual))], ["allow"], JSON.stringify(actual));
});

/** Names that no file should have and some files do have. */
const ODD_NAMES: readonly string[] = [
  "two words",
  "line\nbreak",
  "\u001b[2J\u001b]0;owned\u0007",
  "\u202egnp",
  'it\'s "quoted" $(touch canary) `touch canary` ; touch canary',
  "-rf",
  "\u00e9\u4f60\u{1f600}",
  "tab\there",
];

Deno.test("stop: odd names of records are counted and never shown", async () => {
  await using home = makeHome();
  for (const name of ODD_NAMES) home.task(name).source(name).check(name);
  const result = await stop(home);
  assertEquals(verdictOf(result), "block");
  assertMatch(result.stderr, /● {2}8 task\(s\) in flight, but/);
  assertEquals(result.stderr.split("\n").length, 6);
});

for (const name of ODD_NAMES) {
  Deno.test(`stop: a home named ${JSON.stringify(name)} is guarded and never shown raw`, async () => {
    await using home = makeHome({ name }).task().write("config/x-mode.env");
    const blocked = await stop(home, { CLAUDECODE: "1" });
    assertEquals(verdictOf(blocked), "block");
    assertEquals(blocked.stderr.split("\n").length, 6, blocked.stderr);
    assertNotMatch(blocked.stderr.replaceAll("\n", ""), /[\p{Cc}\u202a-\u202e]/u);
    assertEquals(exists("/canary"), false);
    await home.watcher(5);
    assertEquals(verdictOf(await stop(home)), "allow");
  });
}

Deno.test("stop: the path in a repair line is quoted for a shell", async () => {
  await using home = makeHome({ name: "it's $HOME" }).task().write("config/x-mode.env");
  const result = await stop(home, { CLAUDECODE: "1" });
  const quoted = `source '${home.root.replace("'", "'\\''")}/config/x-mode.env' first, then `;
  assert(repairLineOf(result).startsWith(`●  ${quoted}`), repairLineOf(result));
});

/** What lies at `.git`, and whether that makes a primary home. */
const GIT_LIES: ReadonlyArray<
  readonly [what: string, arrange: (home: TestHome) => unknown, verdict: "allow" | "block"]
> = [
  ["leads nowhere", (home) => home.write(".git", "gitdir: /nowhere/at/all\n"), "allow"],
  ["names a file", (home) => home.write(".git", "gitdir: AGENTS.md\n"), "allow"],
  ["names itself", (home) => home.write(".git", "gitdir: .git\n"), "allow"],
  ["names its own folder", (home) => home.write(".git", "gitdir: .\n"), "allow"],
  ["names the root of all", (home) => home.write(".git", "gitdir: /\n"), "allow"],
  ["names a device", (home) => home.write(".git", "gitdir: /dev/zero\n"), "allow"],
  ["holds a NUL", (home) => home.write(".git", "gitdir: \0\n"), "allow"],
  ["is very long", (home) => home.write(".git", `gitdir: /${"x".repeat(100_000)}\n`), "allow"],
  ["is a link to itself", (home) => Deno.symlinkSync(".git", home.path(".git")), "allow"],
  ["goes round in files", (home) => {
    home.write(".git", "gitdir: b\n").write("b", "gitdir: .git\n");
  }, "allow"],
  ["is a folder with a commondir", (home) => {
    home.gitDirectory(".git").write(".git/commondir", ".\n");
  }, "allow"],
  ["has a commondir that leads to itself", (home) => {
    home.gitDirectory(".git").write(".git/commondir", "commondir\n");
  }, "allow"],
  ["names a worktree", (home) => {
    home.gitDirectory(join(home.folder, "g")).write(".git", "gitdir: ../g/worktrees/w\n");
    home.write("../g/worktrees/w/HEAD", "x").write("../g/worktrees/w/commondir", "../..\n");
  }, "allow"],
  ["names a separate folder", (home) => {
    home.gitDirectory(join(home.folder, "g")).write(".git", "gitdir: ../g\n");
  }, "block"],
];

for (const [what, arrange, verdict] of GIT_LIES) {
  Deno.test(`stop: a .git that ${what} ${verdict}s`, async () => {
    await using home = makeHome({ git: "none" }).task();
    arrange(home);
    assertEquals(verdictOf(await stop(home)), verdict);
  });
}

Deno.test("stop: a thousand tasks give one short banner", async () => {
  await using home = makeHome();
  for (let index = 0; index < 1_000; index++) home.task(`t${index}`);
  const result = await stop(home);
  assertMatch(result.stderr, /1000 task\(s\) in flight/);
  assert(result.stderr.length < 8_000);
});

function names<Name extends string>(table: Readonly<Record<Name, unknown>>): readonly Name[] {
  const isName = (name: string): name is Name => name in table;
  return Object.keys(table).filter(isName);
}

function contents(path: string): Uint8Array {
  try {
    return Deno.readFileSync(path);
  } catch {
    return new Uint8Array();
  }
}
