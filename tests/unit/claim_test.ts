/**
 * When an auto-arm's claim stands.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { type ClaimFact, judgeClaim } from "../../src/decide/claim.ts";
import type { ProcessIdentity } from "../../src/platform/process_identity.ts";
import type { LedgerEntry } from "../../src/state/claude_ledger.ts";
import { identityNamed } from "../support/facts.ts";

function known(text: string): { readonly kind: "known"; readonly identity: ProcessIdentity } {
  return { kind: "known", identity: identityNamed(text) };
}

const UNKNOWN = { kind: "unknown", because: "a zombie has no command line" } as const;

const ENTRY: LedgerEntry = {
  epoch: "4",
  ownerPid: "9",
  outcome: "arming",
  ownerSessionId: undefined,
  sessionPid: undefined,
  recoveryGeneration: undefined,
  ownerIdentity: "owner",
  holderIdentity: "",
};

/** An open claim of a descendant of the lock's holder. */
const OPEN: ClaimFact = {
  entry: ENTRY,
  glance: { epoch: "4", outcome: "arming" },
  ageSeconds: 0,
  owner: { liveness: "alive", identity: known("owner") },
  descendsFromHolder: true,
  holder: { identity: known("holder") },
  recordedSessionId: undefined,
  beacon: { kind: "never" },
};

/** The same claim by a process elsewhere, tied to the conversation by its words alone. */
const TIED: Partial<ClaimFact> = {
  descendsFromHolder: false,
  entry: { ...ENTRY, ownerSessionId: "c1", holderIdentity: "holder" },
  recordedSessionId: "c1",
};

const BEATS = (ageSeconds: number) => ({ beacon: { kind: "beat", ageSeconds } as const });

const ROWS: ReadonlyArray<readonly [what: string, changes: Partial<ClaimFact>, state: string]> = [
  ["everything right", {}, "open"],
  ["no entry", { entry: undefined }, "no-entry"],
  ...["rewake", "failed", "clean", "parked", "Arming"].map((outcome) =>
    [outcome, { entry: { ...ENTRY, outcome } }, "finished"] as const
  ),
  ["no owner", { owner: undefined }, "owner-dead"],
  ["dead owner", { owner: { liveness: "dead", identity: UNKNOWN } }, "owner-dead"],
  ["owner of another user", { owner: { liveness: "foreign", identity: UNKNOWN } }, "owner-dead"],
  ["owner unknown", { owner: { liveness: "alive", identity: UNKNOWN } }, "owner-identity"],
  ["owner another", { owner: { liveness: "alive", identity: known("x") } }, "owner-identity"],
  ["no identity", { entry: { ...ENTRY, ownerIdentity: "" } }, "owner-identity"],
  ["no descendant", { descendsFromHolder: false }, "unreachable"],
  ["tied to the conversation", TIED, "open"],
  ["tied, no holder", { ...TIED, holder: undefined }, "unreachable"],
  ["tied, holder another", { ...TIED, holder: { identity: known("x") } }, "unreachable"],
  ["tied, holder unknown", { ...TIED, holder: { identity: UNKNOWN } }, "unreachable"],
  ["tied, other conversation", { ...TIED, recordedSessionId: "c2" }, "unreachable"],
  ["tied, no sidecar", { ...TIED, recordedSessionId: undefined }, "unreachable"],
  [
    "no ids on either side",
    { ...TIED, entry: { ...ENTRY, holderIdentity: "holder" }, recordedSessionId: undefined },
    "unreachable",
  ],
  ["299 s without a beacon", { ageSeconds: 299 }, "open"],
  ["300 s without a beacon", { ageSeconds: 300 }, "stuck"],
  ["300 s with a beat", { ageSeconds: 300, ...BEATS(299) }, "open"],
  ["300 s with an old beat", { ageSeconds: 300, ...BEATS(300) }, "stuck"],
  ["from the future", { ageSeconds: -900 }, "open"],
  ["no age", { ageSeconds: undefined }, "stuck"],
];

Deno.test("judgeClaim: names the first reason why a claim is not open", () => {
  const seen = ROWS.map(([what, changes]) => {
    const state = judgeClaim({ ...OPEN, ...changes }, 300);
    return [what, state.kind === "open" ? "open" : state.because];
  });
  assertEquals(seen, ROWS.map(([what, , state]) => [what, state]));
});
