/**
 * How long a beat stays fresh.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import {
  awayGrace,
  flatGrace,
  type GraceVariables,
  pollGraceSeconds,
  pollSeconds,
} from "../../src/decide/grace.ts";

function variables(grace?: string, poll?: string): GraceVariables {
  return { FM_GUARD_GRACE: grace, FM_POLL: poll };
}

/** Both variables, then the flat and the away grace in seconds. */
const GRACES: ReadonlyArray<
  readonly [grace: string | undefined, poll: string | undefined, flat: number, away: number]
> = [
  [undefined, undefined, 300, 300],
  [undefined, "15", 300, 300],
  [undefined, "240", 300, 300],
  [undefined, "241", 300, 301],
  [undefined, "300", 300, 360],
  [undefined, "600", 300, 660],
  [undefined, "0600", 300, 660],
  [undefined, "abc", 300, 300],
  [undefined, " 600 ", 300, 300],
  ["500", undefined, 500, 500],
  ["500", "600", 500, 500],
  ["10", "600", 10, 10],
  ["0", "600", 0, 0],
  ["-1", undefined, -1, -1],
  [" 300 ", "600", 300, 300],
  ["abc", undefined, 300, 300],
  ["abc", "600", 300, 660],
  ["300.5", "600", 300, 660],
  ["", "600", 300, 660],
];

Deno.test("flatGrace: follows FM_GUARD_GRACE alone, never the poll", () => {
  for (const [grace, poll, flat] of GRACES) {
    assertEquals(flatGrace(variables(grace, poll)).value, flat, `${grace}, ${poll}`);
  }
});

Deno.test("awayGrace: follows FM_GUARD_GRACE, else the poll", () => {
  for (const [grace, poll, , away] of GRACES) {
    assertEquals(awayGrace(variables(grace, poll)).value, away, `${grace}, ${poll}`);
  }
});

Deno.test("flatGrace: a malformed value stays visible", () => {
  assertEquals(flatGrace(variables("abc")), { kind: "malformed", value: 300, text: "abc" });
});

Deno.test("pollGraceSeconds: a minute beyond the poll, at least five minutes", () => {
  assertEquals(pollGraceSeconds(variables(undefined, "240")), 300);
  assertEquals(pollGraceSeconds(variables("1", "300")), 360);
});

Deno.test("pollSeconds: fifteen unless digits say otherwise", () => {
  assertEquals(pollSeconds(variables()).value, 15);
  assertEquals(pollSeconds(variables(undefined, "7")).value, 7);
  assertEquals(pollSeconds(variables(undefined, "-7")).value, 15);
});
