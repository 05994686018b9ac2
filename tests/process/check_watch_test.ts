/**
 * Checks under a running watcher: what a sweep queues, prints and notes, and that it never wedges.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { exists } from "../support/files.ts";
import { makeHome, type TestHome } from "../support/home.ts";
import { until } from "../support/processes.ts";
import { type RunResult, runTurnguard, startTurnguard } from "../support/turnguard.ts";

const SETTINGS = { FM_CHECK_INTERVAL: "0", FM_POLL: "1", FM_CHECK_TIMEOUT: "20" };

async function trusted(home: TestHome, id: string, body: string): Promise<string> {
  home.write(`state/${id}.check.sh`, `${body}\n`);
  Deno.chmodSync(home.path(`state/${id}.check.sh`), 0o700);
  const run = await runTurnguard(["check-register", id, ...home.args]);
  assertEquals(run.status, 0, run.stderr);
  return home.path(`state/${id}.check.sh`);
}

/** Watches until the watcher ends by itself. */
function watch(home: TestHome, env: Readonly<Record<string, string>> = {}): Promise<RunResult> {
  return runTurnguard(["watch", ...home.args], { limitMs: 15_000, env: { ...SETTINGS, ...env } });
}

/** Key and payload of the queued rows. */
function rows(home: TestHome): readonly (readonly (string | undefined)[])[] {
  return Deno.readTextFileSync(home.path("state/.wake-queue")).split("\n").slice(0, -1)
    .map((row) => row.split("\t").slice(2));
}

Deno.test("watch: a check's output is queued, printed with its lines, and the sweep noted", async () => {
  await using home = makeHome();
  const path = await trusted(home, "c", "echo one; echo two");
  const run = await watch(home);
  assertEquals(run.status, 0, run.stderr);
  assertStringIncludes(run.stdout, `check: ${path}: one\ntwo\n`);
  assertEquals(rows(home), [["check", path, `check: ${path}: one two`]]);
  assert(exists(home.path("state/.last-check")));
});

Deno.test("watch: an edited check is reported and does not run", async () => {
  await using home = makeHome();
  const path = await trusted(home, "c", "echo hello");
  Deno.writeTextFileSync(path, `touch '${home.folder}/ran'\n`);
  const run = await watch(home);
  const reason = `check: rejected unauthenticated state checks: ${path}`;
  assertEquals(run.status, 0, run.stderr);
  assertStringIncludes(run.stdout, `${reason}\n`);
  assertEquals(rows(home), [["check", "unauthenticated-state-checks", reason]]);
  assertEquals(exists(`${home.folder}/ran`), false);
});

Deno.test("watch: of two checks with output the first is told, the second waits", async () => {
  await using home = makeHome();
  const first = await trusted(home, "a", "echo one");
  await trusted(home, "b", `touch '${home.folder}/ran'; echo two`);
  await watch(home);
  assertEquals(rows(home).map(([, key]) => key), [first]);
  assertEquals(exists(`${home.folder}/ran`), false);
});

Deno.test("watch: a check that hangs costs its deadline, and the next one still runs", async () => {
  await using home = makeHome();
  await trusted(home, "a", "sleep 600 & trap '' TERM; sleep 600");
  const path = await trusted(home, "b", "echo reached");
  const run = await watch(home, { FM_CHECK_TIMEOUT: "1" });
  assertStringIncludes(run.stdout, `check: ${path}: reached\n`);
});

Deno.test("watch: a stop in the middle of a check ends the check and its copy", async () => {
  await using home = makeHome();
  const mark = `${home.folder}/pid`;
  await trusted(home, "c", `echo $$ > '${mark}'; sleep 600`);
  const watcher = startTurnguard(["watch", ...home.args], {
    env: { ...SETTINGS, FM_CHECK_TIMEOUT: "60" },
  });
  try {
    await until(() => exists(mark) && Deno.readTextFileSync(mark).endsWith("\n"));
  } finally {
    watcher.kill("SIGTERM");
    assertEquals((await watcher.status).code, 143);
  }
  const pid = Number(Deno.readTextFileSync(mark));
  const stat = exists(`/proc/${pid}`) ? Deno.readTextFileSync(`/proc/${pid}/stat`) : ") Z";
  assertEquals(stat.slice(stat.lastIndexOf(")")).startsWith(") Z"), true, stat);
  const left = [...Deno.readDirSync(home.state)].filter(({ name }) => name.startsWith(".fm-"));
  assertEquals(left, []);
});
