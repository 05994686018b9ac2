/**
 * Every Cursor payload, fed unchanged to `park` in a home whose arm fails, and in one whose arm brings a
 * wake.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { armRuns, says, writeArm } from "../support/claude_session.ts";
import {
  type CursorHome,
  fixture,
  makeCursorHome,
  REPAIRS,
  saidBy,
} from "../support/cursor_home.ts";
import { textOf } from "../support/files.ts";
import { tabulate } from "../support/turnguard.ts";

/** What a payload leads to: a park for the session of this id, the ceiling's notice, or nothing. */
type Row = readonly [file: string, outcome: `parks for ${string}` | "ceiling" | "silent"];

const ROWS: readonly Row[] = [
  ["cursor-stop-ordinary", "parks for conv-4f5e6d7c"],
  ["cursor-stop-continuation", "parks for conv-4f5e6d7c"],
  ["cursor-stop-aborted", "parks for conv-4f5e6d7c"],
  ["cursor-stop-fractional-loop-count", "parks for conv-4f5e6d7c"],
  ["cursor-stop-minimal", "parks for unknown"],
  ["cursor-stop-documented-fields-only", "parks for unknown"],
  ["cursor-stop-unsafe-session-id", "parks for unknown"],
  ["cursor-stop-at-ceiling", "ceiling"],
  ["cursor-stop-past-ceiling", "silent"],
  ["cursor-stop-malformed-loop-count", "silent"],
  ["cursor-stop-null-loop-count", "silent"],
  ["cursor-stop-negative-loop-count", "silent"],
  ["cursor-stop-top-level-string", "silent"],
  // Other events: no mode looks at an event's name, only registration keeps them away.
  ["cursor-sessionstart-ordinary", "parks for conv-4f5e6d7c"],
  ["cursor-pretooluse-shell", "parks for conv-4f5e6d7c"],
  ["cursor-subagentstop-ordinary", "parks for conv-4f5e6d7c"],
  ["claude-stop-cursor-host", "parks for conv-11aa22bb"],
];

const REPAIR = "turn-end-guard: TURN WOULD END BLIND - after 2 arm attempts no live watcher with " +
  "a fresh beacon was verified (nag 1 of 3).";
const CEILING =
  "turn-end-guard: CEILING REACHED - 180 follow-ups in a row, and nobody has written " +
  "in between: this is the last one, and this home is NOT supervised from here on.";
const WAKE = "watcher: firstmate watcher wake - one supervision event needs a handling turn now.";
const STALE_BUDGET = "session=another\ncount=2\n";

/** What was said, how often the arm ran, and what is left of the budget. */
async function outcome(home: CursorHome, file: string): Promise<string> {
  const said = saidBy(await home.run({ stdin: fixture(file) }));
  assertEquals(home.litter(), []);
  return `${said} | ${armRuns(home.home)} | ${JSON.stringify(textOf(home.path(REPAIRS)))}`;
}

function expected(row: Row, parks: (session: string) => string): string {
  const [, told] = row;
  const [, session] = /^parks for (.*)$/.exec(told) ?? [];
  if (session !== undefined) return parks(session);
  return `${told === "ceiling" ? CEILING : "silent"} | 0 | ${JSON.stringify(STALE_BUDGET)}`;
}

async function play(arm: readonly string[]): Promise<Readonly<Record<string, string>>> {
  return await tabulate(ROWS, ([file]) => file, async ([file]) => {
    const home = await makeCursorHome();
    await using _home = home;
    writeArm(home.home, ...arm);
    home.home.write(REPAIRS, STALE_BUDGET);
    return await outcome(home, file);
  });
}

Deno.test("park: every recorded payload over an arm that fails", async () => {
  assertEquals(
    await play([says("watcher: FAILED - nothing"), "exit 1"]),
    Object.fromEntries(ROWS.map((row) => [
      row[0],
      expected(row, (id) => `${REPAIR} | 2 | ${JSON.stringify(`session=${id}\ncount=1\n`)}`),
    ])),
  );
});

Deno.test("park: every recorded payload over an arm that brings a wake", async () => {
  assertEquals(
    await play([says("signal: /x/y.status")]),
    Object.fromEntries(ROWS.map((row) => [row[0], expected(row, () => `${WAKE} | 1 | ""`)])),
  );
});
