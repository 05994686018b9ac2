/**
 * The hold of a headless session whose background agents work (85).
 *
 * @module
 */

import { assertEquals, assertMatch } from "@std/assert";
import { ActivityHome } from "../support/activity_home.ts";
import {
  launched,
  type Payload,
  post,
  pre,
  SESSION,
  start,
  task,
  turnEnd,
} from "../support/activity_session.ts";
import { makeHome } from "../support/home.ts";
import { runTurnguard } from "../support/turnguard.ts";

async function hold(
  home: ActivityHome,
  payload: Payload,
  ...words: readonly string[]
): Promise<number> {
  const { status, stdout, stderr } = await runTurnguard(["stop-hold", ...words], {
    stdin: JSON.stringify({ session_id: SESSION, ...payload }),
    env: { HOME: home.home },
    cwd: home.folder,
  });
  assertEquals(stdout, "");
  if (status === 2) assertMatch(stderr, /^1 background agent\(s\) are still at work/);
  else assertEquals(stderr, "");
  return status;
}

async function withAgent(): Promise<ActivityHome> {
  const home = ActivityHome.make();
  await home.send(pre("t", "Agent", { tool_input: { run_in_background: true } }));
  await home.send(start("A"));
  await home.send(post("t", launched("A")));
  return home;
}

Deno.test("stop-hold: as often as it may in a row, then not, and anew after another call", async () => {
  await using home = await withAgent();
  const stop = turnEnd({ background_tasks: [task("A")] });
  const statuses: number[] = [];
  for (let turn = 0; turn < 4; turn++) statuses.push(await hold(home, stop, "--max", "3"));
  assertEquals(statuses, [2, 2, 2, 0]);
  assertEquals(await hold(home, turnEnd({ background_tasks: [] }), "--max", "3"), 0);
  await home.send(pre("u", "Bash"));
  assertEquals(await hold(home, stop, "--max", "3"), 2);
});

Deno.test("stop-hold: without the harness's list the record tells", async () => {
  await using home = await withAgent();
  assertEquals([await hold(home, turnEnd()), await hold(home, turnEnd())], [2, 0]);
  await using calm = ActivityHome.make();
  assertEquals(await hold(calm, turnEnd()), 0);
});

Deno.test("stop-hold: other hosts, odd input and homes are left alone", async () => {
  await using home = await withAgent();
  const stop = turnEnd({ background_tasks: [task("A")] });
  assertEquals(await hold(home, { ...stop, cursor_version: "1" }), 0);
  assertEquals(await hold(home, { ...stop, session_id: 7 }), 0);
  await using primary = makeHome().task();
  assertEquals(await hold(home, stop, "--root", primary.root), 0);
});
