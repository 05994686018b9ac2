/**
 * Whose session lock it is; every doubt is no proof.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { judgeSessionOwner, type SessionFact } from "../../src/decide/session_owner.ts";
import { pidOf } from "../support/facts.ts";

/** Another live session's lock. */
const FOREIGN: SessionFact = {
  lockKind: "file",
  holder: pidOf(50),
  holderIsHarness: true,
  ancestry: [pidOf(10), pidOf(11)],
  trustedSessionId: undefined,
  recordedSessionId: undefined,
};

const SAME = { trustedSessionId: "c1", recordedSessionId: "c1" };

const ROWS: ReadonlyArray<readonly [what: string, changes: Partial<SessionFact>, owner: string]> = [
  ["another live harness", {}, "foreign 50"],
  ["our harness", { holder: pidOf(10) }, "ours"],
  ["our outer harness", { holder: pidOf(11) }, "ours"],
  ["our harness behind a link", { holder: pidOf(11), lockKind: "link" }, "ours"],
  ["the same conversation", SAME, "ours"],
  ["another conversation", { ...SAME, recordedSessionId: "c2" }, "foreign 50"],
  ["no id on either side", {}, "foreign 50"],
  ["an id here only", { trustedSessionId: "c1" }, "foreign 50"],
  ["an id there only", { recordedSessionId: "c1" }, "foreign 50"],
  ["the same conversation of a dead holder", { ...SAME, holderIsHarness: false }, "stale 50"],
  ["a dead holder", { holderIsHarness: false }, "stale 50"],
  ["a dead holder, ancestry unknown", { holderIsHarness: false, ancestry: [] }, "stale 50"],
  ["no lock", { holder: undefined, lockKind: "absent" }, "undetermined"],
  ["a lock without a pid", { holder: undefined }, "undetermined"],
  ["ancestry unknown", { ancestry: [] }, "undetermined"],
  ["ancestry unknown, same conversation", { ...SAME, ancestry: [] }, "undetermined"],
  ["a link", { lockKind: "link" }, "undetermined"],
  ["something else", { lockKind: "other" }, "undetermined"],
];

Deno.test("judgeSessionOwner: only proof makes a lock ours, foreign or stale", () => {
  const seen = ROWS.map(([what, changes]) => {
    const owner = judgeSessionOwner({ ...FOREIGN, ...changes });
    return [what, "pid" in owner ? `${owner.kind} ${owner.pid}` : owner.kind];
  });
  assertEquals(seen, ROWS.map(([what, , owner]) => [what, owner]));
});
