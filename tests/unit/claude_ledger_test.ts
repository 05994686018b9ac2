/**
 * The ledger's two readers, its writers, and the budget file beside it.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  formatClaim,
  formatCommit,
  glanceLedger,
  isLedgerWord,
  ledgerEpoch,
  parseLedger,
} from "../../src/state/claude_ledger.ts";
import { identityNamed } from "../support/facts.ts";

/** A text, its entry as `epoch owner outcome`, and the guard's glance. */
const TEXTS: ReadonlyArray<
  readonly [text: string, entry: string | undefined, epoch: string, outcome: string]
> = [
  ["", undefined, "", ""],
  ["epoch=5 owner_pid=9 outcome=rewake updated_at=1\n", "5 9 rewake", "5", "rewake"],
  ["epoch=5 owner_pid=9 outcome=rewake updated_at=1", undefined, "5", "rewake"],
  ["epoch=5 owner_pid=9 outcome=rewake\n", "5 9 rewake", "5", ""],
  ["epoch=abc owner_pid=9 outcome=rewake x\n", undefined, "", "rewake"],
  ["epoch=-5 owner_pid=9 outcome=rewake x\n", undefined, "", "rewake"],
  ["owner_pid=9 epoch=5 outcome=rewake x\n", "5 9 rewake", "", "rewake"],
  ["epoch=5  owner_pid=9   outcome=clean x\n", "5 9 clean", "5", "clean"],
  ["epoch=5 epoch=6 owner_pid=9 outcome=clean x\n", "5 9 clean", "5", "clean"],
  ["epoch= epoch=6 owner_pid=9 outcome=clean x\n", "6 9 clean", "", "clean"],
  ["epoch=5 outcome=clean x\n", undefined, "5", "clean"],
  ["epoch=5 owner_pid=9 x\n", undefined, "5", ""],
  ["epoch=5 owner_pid=9 outcome=failed outcome=afk x\n", "5 9 failed", "5", "afk"],
  ["epoch=5 owner_pid=9 outcome=Failed x\n", "5 9 Failed", "5", ""],
  ["\nepoch=5 owner_pid=9 outcome=clean x\n", undefined, "", ""],
  ["\0\xff\n", undefined, "", ""],
];

Deno.test("parseLedger: takes the first line's words, and only a finished line", () => {
  const seen = TEXTS.map(([text]) => {
    const entry = parseLedger(text);
    return [text, entry && `${entry.epoch} ${entry.ownerPid} ${entry.outcome}`];
  });
  assertEquals(seen, TEXTS.map(([text, entry]) => [text, entry]));
});

Deno.test("glanceLedger: reads as the shell guard does", () => {
  const seen = TEXTS.map(([text]) => [text, { ...glanceLedger(text) }]);
  assertEquals(seen, TEXTS.map(([text, , epoch, outcome]) => [text, { epoch, outcome }]));
});

Deno.test("ledgerEpoch: is 0 for everything that is no number", () => {
  const rows: ReadonlyArray<readonly [text: string, epoch: number]> = [
    ["epoch=5 x\n", 5],
    ["x epoch=7\n", 7],
    ["epoch=5 x", 0],
    ["epoch=abc\n", 0],
    ["epoch=1234567890123456\n", 0],
    ["", 0],
  ];
  assertEquals(rows.map(([text]) => ledgerEpoch(text)), rows.map(([, epoch]) => epoch));
});

Deno.test("formatClaim: ties the claim to a conversation on line 1 and line 3", () => {
  const claim = { epoch: 4, ownerPid: 9, ownerIdentity: identityNamed("i 1"), updatedAt: 7 };
  assertEquals(
    formatClaim({ ...claim, session: undefined }),
    "epoch=4 owner_pid=9 outcome=arming updated_at=7\ni 1\n",
  );
  assertEquals(
    formatClaim({ ...claim, session: { id: "c1", holderIdentity: identityNamed("h 2") } }),
    "epoch=4 owner_pid=9 outcome=arming updated_at=7 owner_session_id=c1\ni 1\nh 2\n",
  );
});

Deno.test("formatCommit: keeps the owner's identity and drops the session's fields", () => {
  const entry = parseLedger(
    "epoch=4 owner_pid=9 outcome=arming updated_at=7 owner_session_id=c1\ni 1\nh 2\n",
  );
  if (entry === undefined) throw new Error("no entry");
  assertEquals(
    formatCommit({ entry, outcome: "failed", updatedAt: 8, handover: undefined }),
    "epoch=4 owner_pid=9 outcome=failed updated_at=8\ni 1\n",
  );
  const handover = { sessionPid: "11", recoveryGeneration: "g.1" };
  assertEquals(
    formatCommit({
      entry: { ...entry, ownerIdentity: "" },
      outcome: "rewake",
      updatedAt: 8,
      handover,
    }),
    "epoch=4 owner_pid=9 outcome=rewake updated_at=8 session_pid=11 recovery_generation=g.1\n",
  );
});

Deno.test("isLedgerWord: an id must be one word without control characters", () => {
  const ids = ["c1", "a=b", "é", "", "a b", "a\tb", "a\nb", "a\u0007", "a\u00a0b"];
  assertEquals(ids.filter(isLedgerWord), ["c1", "a=b", "é"]);
});

Deno.test("parseLedger: reads back every claim that was written", () => {
  const word = fc.stringMatching(/^[A-Za-z0-9._-]{1,20}$/);
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 1, max: 99_999 }), word, (epoch, ownerPid, id) => {
      const text = formatClaim({
        epoch,
        ownerPid,
        ownerIdentity: identityNamed(`owner ${id}`),
        updatedAt: 1,
        session: { id, holderIdentity: identityNamed(`holder ${id}`) },
      });
      assertEquals(parseLedger(text), {
        epoch: String(epoch),
        ownerPid: String(ownerPid),
        outcome: "arming",
        ownerSessionId: id,
        sessionPid: undefined,
        recoveryGeneration: undefined,
        ownerIdentity: `owner ${id}`,
        holderIdentity: `holder ${id}`,
      });
      assertEquals(glanceLedger(text), { epoch: String(epoch), outcome: "arming" });
    }),
  );
});
