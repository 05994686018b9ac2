/**
 * Turns that end without their stop hook: what is noted of them, and who tells.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { textOf } from "../support/files.ts";
import { makeHome, type TestHome } from "../support/home.ts";
import { FIRST_STOP, runTurnguard } from "../support/turnguard.ts";

const FAILURE = { hook_event_name: "StopFailure", error: "overloaded", session_id: "S1" };
const IDLE = {
  hook_event_name: "Notification",
  notification_type: "idle_prompt",
  session_id: "S1",
};

async function record(home: TestHome, payload: unknown): Promise<void> {
  const stdin = typeof payload === "string" ? payload : JSON.stringify(payload);
  const run = await runTurnguard(["record", ...home.args], { stdin, env: home.env });
  assertEquals(run, { status: 0, stdout: "", stderr: "" });
}

async function told(home: TestHome): Promise<string> {
  const { stdout, stderr } = await runTurnguard(["status", "--json", ...home.args], {
    stdin: null,
    env: home.env,
  });
  assertEquals(stderr, "");
  const status: { readonly blindEnd: { readonly because: string | null } } = JSON.parse(stdout);
  return status.blindEnd.because ?? "-";
}

async function stop(home: TestHome): Promise<void> {
  await runTurnguard(["stop", ...home.args], { stdin: FIRST_STOP, env: home.env });
}

Deno.test("record: an API error is told until a turn end is judged again", async () => {
  await using home = makeHome().task();
  await record(home, FAILURE);
  assertEquals(await told(home), "API error: overloaded");
  const screen = await runTurnguard(["status", ...home.args], { stdin: null, env: home.env });
  assertMatch(screen.stdout, /^turn end nobody judged the last one: API error: overloaded$/m);
  const warned = await runTurnguard(["warn", ...home.args], { stdin: null, env: home.env });
  assertMatch(warned.stderr, /NOTE: the last turn ended without its stop hook: API error/);
  await stop(home);
  assertEquals(await told(home), "-");
});

Deno.test("record: an idle session is told of only when nobody judged its turn's end", async () => {
  await using home = makeHome().task();
  await record(home, IDLE);
  assertEquals(await told(home), "idle after a turn that no stop hook judged");
  await stop(home);
  await record(home, IDLE);
  assertEquals(await told(home), "-");
});

Deno.test("record: other events, odd payloads and homes out of scope leave nothing", async () => {
  await using home = makeHome().task();
  const before = textOf(home.path("state/.turnguard-journal.jsonl"));
  const others = [
    "",
    "[]",
    "{",
    { hook_event_name: "Stop" },
    { hook_event_name: "Notification", notification_type: "permission_prompt" },
    { hook_event_name: ["StopFailure"] },
  ];
  for (const payload of others) await record(home, payload);
  assertEquals(textOf(home.path("state/.turnguard-journal.jsonl")), before);
  const elsewhere = Deno.makeTempDirSync({ prefix: "turnguard-test-" });
  try {
    const stdin = JSON.stringify(FAILURE);
    const run = await runTurnguard(["record", "--root", elsewhere], { stdin });
    assertEquals(run, { status: 0, stdout: "", stderr: "" });
    assertEquals([...Deno.readDirSync(elsewhere)], []);
  } finally {
    Deno.removeSync(elsewhere, { recursive: true });
  }
});

Deno.test("record: hostile words of a payload stay words", async () => {
  await using home = makeHome().task();
  await record(home, { ...FAILURE, error: `\u001b[31m${"x".repeat(10_000)}\n` });
  const journal = textOf(home.path("state/.turnguard-journal.jsonl"));
  assert(!journal.includes("\u001b") && journal.length < 1_000, journal.slice(0, 200));
});

Deno.test("record: a wrong command line is silent", async () => {
  const run = await runTurnguard(["record", "--bogus", "x"], { stdin: JSON.stringify(FAILURE) });
  assertEquals(run, { status: 0, stdout: "", stderr: "" });
});
