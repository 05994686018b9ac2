/**
 * Which homes are guarded.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import type { ScopeFact } from "../../src/decide/facts.ts";
import { isGenuineMarker, judgeScope } from "../../src/decide/scope.ts";
import { PRIMARY_HOME } from "../support/facts.ts";

/** Bytes of a marker file, and whether it makes a secondmate home. */
const MARKERS: ReadonlyArray<readonly [text: string, genuine: boolean]> = [
  ["sm-1\n", true],
  ["  sm 1 \nother\n", true],
  ["sm\r\n", true],
  ["a\tb\n", true],
  ["a\v\fb\n", true],
  [".\n", true],
  ["A.b_c-9\n", true],
  ["sm-1\nsm/1\n", true],
  ["sm-1", false],
  ["", false],
  ["\n", false],
  [" \t\n", false],
  ["\nabc\n", false],
  ["sm/1\n", false],
  ["s\u00e9\n", false],
  ["sm\u00a01\n", false],
  ["sm\u20281\n", false],
  ["sm\u0000\n", false],
  ["$(id)\n", false],
];

Deno.test("isGenuineMarker: one terminated first line that names an id", () => {
  for (const [text, genuine] of MARKERS) {
    assertEquals(isGenuineMarker({ kind: "file", text }), genuine, JSON.stringify(text));
  }
});

Deno.test("isGenuineMarker: only a plain file can be one", () => {
  assertEquals(isGenuineMarker({ kind: "absent" }), false);
  assertEquals(isGenuineMarker({ kind: "not-a-plain-file" }), false);
});

const MATE: Partial<ScopeFact> = { marker: { kind: "file", text: "sm-1\n" } };

/** What differs from a primary home, and what decides. */
const SCOPES: ReadonlyArray<readonly [Partial<ScopeFact>, "in" | "out", string]> = [
  [{}, "in", "primary checkout"],
  [{ git: "linked-worktree" }, "out", "linked worktree"],
  [{ git: "none" }, "out", "not a checkout root"],
  [{ ...MATE, git: "linked-worktree" }, "in", "secondmate marker"],
  [{ ...MATE, git: "none" }, "in", "secondmate marker"],
  [MATE, "in", "secondmate marker"],
  [{ marker: { kind: "file", text: "x" } }, "in", "primary checkout"],
  [{ marker: { kind: "not-a-plain-file" }, git: "linked-worktree" }, "out", "linked worktree"],
  [{ ...MATE, agentsFile: "absent" }, "out", "no AGENTS.md"],
  [{ agentsFile: "directory" }, "out", "no AGENTS.md"],
  [{ agentsFile: "unknown" }, "out", "no AGENTS.md"],
  [{ bin: "file" }, "out", "no bin/"],
  [{ ...MATE, bin: "absent" }, "out", "no bin/"],
  [{ state: "absent" }, "out", "no state directory"],
  [{ state: "file" }, "out", "no state directory"],
  [{ state: "other" }, "out", "no state directory"],
  [
    { git: "none", agentsFile: "absent", bin: "absent", state: "absent" },
    "out",
    "not a checkout root",
  ],
];

Deno.test("judgeScope: every home is in or out for its first reason", () => {
  for (const [change, kind, because] of SCOPES) {
    const scope = judgeScope({ ...PRIMARY_HOME, ...change });
    assertEquals<{ kind: string; because: string }>(scope, { kind, because });
  }
});
