/**
 * What one look of the waiting guard comes to.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import type { ClaimState } from "../../src/decide/claim.ts";
import { judgeRecovery, type RecoveryFact } from "../../src/decide/recovery.ts";

const OPEN: ClaimState = { kind: "open", saw: "epoch 4" };

const NOTHING: RecoveryFact = {
  watcherHealthy: false,
  claim: { kind: "closed", because: "no-entry", saw: "no ledger entry" },
  legacyClaim: false,
  outcome: "",
  fresh: false,
  noticed: false,
};

const FRESH = { fresh: true };
const TOLD = { fresh: true, noticed: true };

const ROWS: ReadonlyArray<readonly [what: string, changes: Partial<RecoveryFact>, kind: string]> = [
  ["nothing", {}, "nobody"],
  ["a watcher", { watcherHealthy: true }, "supervised"],
  [
    "a watcher before all else",
    { ...TOLD, watcherHealthy: true, claim: OPEN, legacyClaim: true, outcome: "failed" },
    "supervised",
  ],
  ["a claim", { claim: OPEN }, "open-claim"],
  ["a claim in an episode", { claim: OPEN, noticed: true }, "open-claim, observe"],
  ["a claim before a legacy one", { claim: OPEN, legacyClaim: true }, "open-claim"],
  ["a legacy claim", { legacyClaim: true }, "legacy-claim"],
  ["a legacy claim in an episode", { legacyClaim: true, noticed: true }, "legacy-claim, observe"],
  ["a rewake", { ...FRESH, outcome: "rewake" }, "fresh-rewake"],
  ["a rewake in an episode", { ...TOLD, outcome: "rewake" }, "fresh-rewake, observe"],
  ["an old rewake", { outcome: "rewake" }, "nobody"],
  ["a failure", { ...TOLD, outcome: "failed" }, "first-failure"],
  ["an untold failure", { ...FRESH, outcome: "failed" }, "nobody"],
  ["an old failure", { noticed: true, outcome: "failed" }, "nobody"],
  ["a failure that goes on", { ...TOLD, outcome: "failed-suppressed" }, "later-failure"],
  ["untold", { ...FRESH, outcome: "failed-suppressed" }, "nobody"],
  ["clean", { ...TOLD, outcome: "clean" }, "nobody"],
  ["a claim that is closed", { ...TOLD, outcome: "arming" }, "nobody"],
];

Deno.test("judgeRecovery: the first that continues a stop wins", () => {
  const seen = ROWS.map(([what, changes]) => {
    const recovery = judgeRecovery({ ...NOTHING, ...changes });
    if (recovery.kind !== "owned") return [what, recovery.kind];
    return [what, recovery.observe ? `${recovery.because}, observe` : recovery.because];
  });
  assertEquals(seen, ROWS.map(([what, , kind]) => [what, kind]));
});
