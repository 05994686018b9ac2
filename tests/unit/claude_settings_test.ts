/**
 * The numbers of Claude's hooks: a malformed one counts as unset.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import {
  armAttempts,
  blockBudget,
  claimGraceSeconds,
  type ClaudeVariables,
  epochFreshSeconds,
  guardClaimGraceSeconds,
  syncWaitMs,
} from "../../src/decide/claude_settings.ts";

const NONE: ClaudeVariables = { FM_GUARD_GRACE: undefined, FM_POLL: undefined };

function values(
  name: keyof ClaudeVariables,
  texts: readonly string[],
  read: (variables: ClaudeVariables) => number,
): readonly number[] {
  return texts.map((text) => read({ ...NONE, [name]: text }));
}

Deno.test("syncWaitMs: takes digits, 0 included", () => {
  const texts = ["0", "250", "", "abc", "-1", "1.5", " 5"];
  const seen = values("FM_CLAUDE_AUTOARM_SYNC_WAIT_MS", texts, (set) => syncWaitMs(set).value);
  assertEquals(seen, [0, 250, 800, 800, 800, 800, 800]);
});

Deno.test("epochFreshSeconds: takes positive digits", () => {
  const texts = ["1", "0", "", "x"];
  const seen = values(
    "FM_CLAUDE_AUTOARM_EPOCH_FRESH",
    texts,
    (set) => epochFreshSeconds(set).value,
  );
  assertEquals(seen, [1, 15, 15, 15]);
});

Deno.test("blockBudget: is positive and below the host's cap", () => {
  const texts = ["5", "0", "x", "", "100"];
  assertEquals(values("FM_CLAUDE_TURNEND_BLOCK_BUDGET", texts, blockBudget), [5, 3, 3, 3, 7]);
  const caps = ["3", "0", "1", "x", ""];
  const seen = values(
    "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP",
    caps,
    (set) => blockBudget({ ...set, FM_CLAUDE_TURNEND_BLOCK_BUDGET: "20" }),
  );
  assertEquals(seen, [2, 20, 1, 7, 7]);
});

Deno.test("armAttempts: is 1, 2 or 3, and else 2", () => {
  const texts = ["1", "2", "3", "0", "4", "9", "x", "", "01"];
  const seen = values("FM_CLAUDE_AUTOARM_ATTEMPTS", texts, armAttempts);
  assertEquals(seen, [1, 2, 3, 2, 2, 2, 2, 2, 2]);
});

Deno.test("guardClaimGraceSeconds: a grace of nothing is the default", () => {
  assertEquals(values("FM_GUARD_GRACE", ["500", "0", "abc", ""], guardClaimGraceSeconds), [
    500,
    300,
    300,
    300,
  ]);
  assertEquals([-1, 0, 1].map(claimGraceSeconds), [300, 300, 1]);
});
