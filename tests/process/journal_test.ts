/**
 * The decision journal: one line for every verdict, and never a reason for another verdict.
 *
 * @module
 */

import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import { makeHome, type TestHome } from "../support/home.ts";
import { asOtherUser } from "../support/processes.ts";
import { snapshot } from "../support/snapshot.ts";
import {
  inBatches,
  runProgram,
  type RunResult,
  runTurnguard,
  startTurnguard,
  TURNGUARD,
  verdictOf,
} from "../support/turnguard.ts";

const NAME = ".turnguard-journal.jsonl";
const LIMIT_BYTES = 1024 * 1024;
const FIRST_STOP = '{"stop_hook_active":false,"session_id":"very-secret-session"}';

function stop(
  home: TestHome,
  options: { readonly args?: readonly string[]; readonly stdin?: string } = {},
): Promise<RunResult> {
  return runTurnguard(["stop", ...options.args ?? [], ...home.args], {
    stdin: options.stdin ?? FIRST_STOP,
    env: { ...home.env, CLAUDECODE: "1" },
  });
}

function lines(home: TestHome, name = NAME): readonly string[] {
  const text = Deno.readTextFileSync(home.path("state", name));
  assert(text.endsWith("\n"));
  return text.slice(0, -1).split("\n");
}

function entries(home: TestHome): readonly Readonly<Record<string, unknown>>[] {
  return lines(home).map((line) => {
    const value: unknown = JSON.parse(line);
    assert(typeof value === "object" && value !== null && !Array.isArray(value));
    return Object.fromEntries(Object.entries(value));
  });
}

Deno.test("journal: a block leaves one line with everything that decided", async () => {
  await using home = makeHome().task();
  const before = Date.now();
  assertEquals(verdictOf(await stop(home)), "block");
  const [entry, ...more] = entries(home);
  assertEquals(more, []);
  assert(entry !== undefined);
  const { time, session, facts, ms, ...rest } = entry;
  assertEquals(rest, { mode: "stop", harness: "claude", verdict: "block", code: "unsupervised" });
  assert(typeof time === "string" && Date.parse(time) >= before && Date.parse(time) <= Date.now());
  assertMatch(String(session), /^[0-9a-f]{16}$/);
  assert(typeof ms === "number" && ms >= 0);
  assert(typeof facts === "object" && facts !== null);
  assertEquals(Object.entries(facts).find(([rule]) => rule === "need"), [
    "need",
    "1 task(s) in flight",
  ]);
});

Deno.test("journal: no session id and no payload text stands in it", async () => {
  await using home = makeHome().task();
  await stop(home, {
    stdin: '{"session_id":"very-secret-session","last_assistant_message":"hush"}',
  });
  assertFalse(/very-secret-session|hush/.test(lines(home).join()));
});

Deno.test("journal: every kind of verdict is told by its own code", async () => {
  await using home = makeHome();
  await stop(home);
  home.task();
  await stop(home, { stdin: "{" });
  await stop(home, { stdin: "" });
  await stop(home, { stdin: '{"stop_hook_active":true}' });
  await stop(home, { stdin: '{"stop_hook_active":1}' });
  await stop(home, { stdin: '{"cursor_version":"x"}' });
  await stop(home, { args: ["--cursor"], stdin: '{"cursor_version":"x"}' });
  await home.watcher(5);
  await stop(home);
  home.remove("state/.watch.lock").away();
  await home.daemon();
  await stop(home);
  assertEquals(entries(home).map(({ mode, verdict, code }) => `${mode}: ${verdict} ${code}`), [
    "stop: allow no-need",
    "stop: allow payload-unreadable",
    "stop: allow no-payload",
    "stop: allow already-continued",
    "stop: allow loop-guard-unreadable",
    "stop: allow foreign-host",
    "stop --cursor: block unsupervised",
    "stop: allow watcher-healthy",
    "stop: allow daemon-owns",
  ]);
});

Deno.test("journal: without a session id the session is null", async () => {
  await using home = makeHome();
  await stop(home, { stdin: "{}" });
  assertEquals(entries(home)[0]?.["session"], null);
});

Deno.test("journal: only its owner may read it", async () => {
  await using home = makeHome();
  await stop(home);
  const { mode, isFile } = Deno.lstatSync(home.path("state", NAME));
  assertEquals([isFile, (mode ?? 0) & 0o777], [true, 0o600]);
});

Deno.test("journal: it is the only thing that a stop writes, and only in a home", async () => {
  await using home = makeHome().task();
  await using worktree = makeHome({ git: "linked-worktree" }).task();
  const before = [snapshot(home.folder), snapshot(worktree.folder)];
  await stop(home);
  await stop(worktree);
  assertEquals([snapshot(home.folder), snapshot(worktree.folder)], before);
  assertEquals([...Deno.readDirSync(worktree.state)].map(({ name }) => name), ["task1.meta"]);
});

Deno.test("journal: at 1 MiB it is moved aside once and goes on", async () => {
  await using home = makeHome();
  const old = `{"old":true}\n`.repeat(Math.floor(LIMIT_BYTES / 13));
  home.write(`state/${NAME}`, old).write(`state/${NAME}.1`, "older\n");
  await stop(home);
  assertEquals(Deno.readTextFileSync(home.path("state", `${NAME}.1`)), old);
  assertEquals(lines(home).length, 1);
  await stop(home);
  assertEquals(Deno.readTextFileSync(home.path("state", `${NAME}.1`)), old);
  assertEquals(lines(home).length, 2);
});

const OBSTACLES: ReadonlyArray<readonly [what: string, place: (path: string) => unknown]> = [
  ["a folder", (path) => Deno.mkdirSync(path)],
  ["a FIFO", (path) => runProgram(["/usr/bin/mkfifo", path])],
  ["a link to itself", (path) => Deno.symlinkSync(path, path)],
  ["a link to a file", (path) => {
    Deno.writeTextFileSync(`${path}.target`, "kept\n");
    Deno.symlinkSync(`${path}.target`, path);
  }],
  ["a link to nothing", (path) => Deno.symlinkSync(`${path}.target`, path)],
  ["a device", (path) => Deno.symlinkSync("/dev/full", path)],
];

for (const [what, place] of OBSTACLES) {
  Deno.test(`journal: ${what} in its place changes no verdict and no stream`, async () => {
    await using home = makeHome().task();
    await place(home.path("state", NAME));
    assertEquals(verdictOf(await stop(home)), "block");
    home.remove("state/task1.meta");
    assertEquals(verdictOf(await stop(home)), "allow");
    const target = home.path("state", `${NAME}.target`);
    if (what === "a link to a file") assertEquals(Deno.readTextFileSync(target), "kept\n");
    if (what === "a link to nothing") {
      assertEquals([...Deno.readDirSync(home.state)].length, 1);
    }
  });
}

Deno.test("journal: where its rotation is obstructed the verdict stands", async () => {
  await using home = makeHome().task();
  home.write(`state/${NAME}`, "x".repeat(LIMIT_BYTES)).write(`state/${NAME}.1/x`, "x");
  assertEquals(verdictOf(await stop(home)), "block");
});

Deno.test(
  "journal: a state folder without write permission changes no verdict (needs the superuser)",
  { ignore: asOtherUser([]) === undefined },
  async () => {
    await using home = makeHome().task();
    Deno.chmodSync(home.state, 0o555);
    const result = await runProgram(asOtherUser([TURNGUARD, "stop", ...home.args]) ?? [], {
      stdin: FIRST_STOP,
      env: home.env,
    });
    assertEquals(verdictOf(result), "block");
    assertEquals([...Deno.readDirSync(home.state)].length, 1);
  },
);

Deno.test("journal: sixteen stops at once leave sixteen whole lines", async () => {
  await using home = makeHome().task();
  const runs = Array.from({ length: 16 }, (_, index) => index);
  const verdicts = await inBatches(runs, async () => verdictOf(await stop(home)), 16);
  assertEquals(new Set(verdicts), new Set(["block"]));
  assertEquals(entries(home).length, 16);
});

Deno.test("journal: stops that meet a full journal at once lose neither half", async () => {
  await using home = makeHome();
  const old = `{"old":true}\n`.repeat(Math.floor(LIMIT_BYTES / 13));
  home.write(`state/${NAME}`, old);
  await inBatches(Array.from({ length: 8 }), () => stop(home), 8);
  const kept = lines(home, `${NAME}.1`);
  assertEquals(kept.filter((line) => line === '{"old":true}').length, old.length / 13);
  const fresh = [...kept, ...lines(home)].filter((line) => line !== '{"old":true}');
  assertEquals(fresh.length, 8);
});

Deno.test("journal: a deadline that was missed leaves a line, and the turn is allowed", async () => {
  await using home = makeHome().task();
  const child = startTurnguard(["stop", ...home.args], { env: home.env, stdin: "piped" });
  // A payload that goes on and on is neither complete nor silent.
  const writer = child.stdin.getWriter();
  const drip = setInterval(() => {
    writer.write(new TextEncoder().encode("[")).catch(() => {});
  }, 200);
  try {
    assertEquals((await child.status).code, 0);
  } finally {
    clearInterval(drip);
    await writer.abort().catch(() => {});
  }
  const [entry] = entries(home);
  assertEquals([entry?.["verdict"], entry?.["code"]], ["allow", "deadline"]);
});
