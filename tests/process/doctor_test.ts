/**
 * `doctor`: its exit status, its two forms, and that it only looks.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { makeHome, type TestHome } from "../support/home.ts";
import { isSuperuser, OTHER_USER } from "../support/processes.ts";
import { snapshot } from "../support/snapshot.ts";
import { type RunOptions, runTurnguard } from "../support/turnguard.ts";

interface Check {
  readonly id: string;
  readonly outcome: string;
  readonly what: string;
  readonly todo?: string;
}

/** The checks by id that are not `ok`, and the exit status. */
async function faults(
  home: TestHome,
  options: RunOptions = {},
): Promise<readonly [number, Readonly<Record<string, string>>]> {
  const { status, stdout } = await runTurnguard(["doctor", "--json", ...home.args], options);
  const { checks }: { readonly checks: readonly Check[] } = JSON.parse(stdout);
  const found = checks.filter((check) => check.outcome !== "ok");
  return [status, Object.fromEntries(found.map((check) => [check.id, check.outcome]))];
}

Deno.test("doctor: a home in order is well, with or without a watcher", async () => {
  await using home = makeHome();
  assertEquals(await faults(home), [0, {}]);
  await home.task().watcher();
  assertEquals(await faults(home), [0, {}]);
});

Deno.test("doctor: a setting that is no number is wrong, wherever one stands", async () => {
  await using home = makeHome();
  const env = { FM_POLL: "abc" };
  assertEquals(await faults(home, { env }), [1, { settings: "wrong" }]);
  // Nothing is known about a home here, but what is wrong counts more.
  assertEquals((await runTurnguard(["doctor"], { env, cwd: home.folder })).status, 1);
});

/** What is done to a home, and the check that finds it. */
const FAULTS: ReadonlyArray<readonly [string, (home: TestHome) => unknown, string]> = [
  ["writable for others", (home) => Deno.chmodSync(home.state, 0o777), "state-access"],
  ["a beacon from the future", (home) => home.beat(-3_600), "clock"],
  ["a watcher of another home", (home) => home.watcher(5, { home: "/other" }), "watcher"],
  ["a watcher of another path", (home) => home.watcher(5, { watcherPath: "/x" }), "watcher"],
  ["a lock that is a file", (home) => home.write("state/.watch.lock", ""), "state-contents"],
  [
    "a journal that is a link",
    (home) => Deno.symlinkSync("/dev/null", home.path("state/.turnguard-journal.jsonl")),
    "state-contents",
  ],
  ["no bin/", (home) => home.remove("bin"), "scope"],
];

Deno.test("doctor: each fault of a home is found by its check", async () => {
  for (const [name, spoil, check] of FAULTS) {
    await using home = makeHome();
    await spoil(home);
    assertEquals(await faults(home), [1, { [check]: "wrong" }], name);
  }
});

/** What may stand in the place of the state directory. */
const NO_STATE: Readonly<Record<string, (home: TestHome) => unknown>> = {
  "nothing": () => {},
  "a file": (home) => home.write("state", ""),
  "a dangling link": (home) => Deno.symlinkSync("/nowhere", home.path("state")),
  "a loop": (home) => Deno.symlinkSync("state", home.path("state")),
};

Deno.test("doctor: a state directory that is none ends its checks", async () => {
  for (const [name, put] of Object.entries(NO_STATE)) {
    await using home = makeHome();
    home.remove("state");
    put(home);
    const expected = { "scope": "wrong", "state-directory": "wrong" };
    assertEquals(await faults(home), [1, expected], name);
  }
});

Deno.test({
  name: "doctor: a state directory of another user is wrong",
  ignore: !isSuperuser(),
  fn: async () => {
    await using home = makeHome();
    Deno.chownSync(home.state, OTHER_USER, OTHER_USER);
    assertEquals(await faults(home), [1, { "state-owner": "wrong" }]);
  },
});

Deno.test("doctor: a task worktree is well", async () => {
  await using home = makeHome({ git: "linked-worktree" });
  assertEquals(await faults(home), [0, {}]);
});

Deno.test("doctor: outside of any home only the machine is checked", async () => {
  await using home = makeHome();
  const { status, stdout } = await runTurnguard(["doctor"], { cwd: home.folder });
  assertEquals(status, 3);
  assertMatch(stdout, /^unknown +home +no home was found/m);
  assertMatch(stdout, /\d+ checks: \d+ ok, 0 wrong, 1 unknown\n$/);
});

Deno.test("doctor: the screen fits 80 columns, and each fault says what to do", async () => {
  await using home = makeHome();
  Deno.chmodSync(home.state, 0o777);
  const { stdout } = await runTurnguard(["doctor", ...home.args], { env: { FM_POLL: "a\u001b" } });
  const text = stdout.replaceAll(home.root, "/home");
  for (const line of text.split("\n")) {
    assert(Array.from(line).length <= 80, line);
    // deno-lint-ignore no-control-regex -- control characters are what must not be there
    assert(!/[\u0000-\u001f\u007f]/.test(line), JSON.stringify(line));
  }
  assertEquals(text.match(/^WRONG/gm)?.length, text.match(/→ /g)?.length);
});

Deno.test("doctor: reads only", async () => {
  await using home = makeHome();
  await home.task().watcher();
  const before = snapshot(home.root);
  await runTurnguard(["doctor", ...home.args]);
  assertEquals(snapshot(home.root), before);
});
