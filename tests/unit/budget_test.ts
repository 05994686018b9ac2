/**
 * Charging a blocked stop, and the bound that the budget puts on blocks in a row.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  account,
  type Accounted,
  type Accounting,
  effectiveBudget,
  isFailure,
  mayRaiseAlarm,
} from "../../src/decide/budget.ts";
import { ageMs } from "../../src/platform/own_start.ts";
import type { BlockBudget } from "../../src/state/claude_budget.ts";

const CHARGE = { event: "aa", atMs: 1_000, pid: 10 };

const BASE: Accounting = {
  mode: "block",
  sessionId: "S1",
  stored: undefined,
  ledger: { epoch: "", outcome: "" },
  noticed: false,
  chargedEpoch: undefined,
  charge: CHARGE,
  startedAtMs: 900,
};

/** A budget of this session that was charged long before this process began. */
function stored(count: number, epoch: string, changes: Partial<BlockBudget> = {}): BlockBudget {
  const charge = { event: "bb", atMs: 500, pid: 9 };
  return { session: "S1", count, epoch, charge, ...changes };
}

function told({ budget, charged, openedByFailure, secondDelivery }: Accounted): string {
  const words = [
    `${budget.session} ${budget.count} "${budget.epoch}"`,
    charged ? "charged" : "",
    openedByFailure ? "opened" : "",
    secondDelivery ? "second" : "",
  ];
  return words.filter((word) => word !== "").join(", ");
}

const FAILED = { epoch: "3", outcome: "failed" };
const SUPPRESSED = { epoch: "3", outcome: "failed-suppressed" };
const OPEN = { epoch: "3", outcome: "arming" };

const ACCOUNTS: ReadonlyArray<
  readonly [what: string, changes: Partial<Accounting>, expected: string]
> = [
  ["no budget, no ledger", {}, 'S1 1 "", charged'],
  ["no budget, failure without notice", { ledger: FAILED }, 'S1 1 "3", charged'],
  ["no budget, told failure", { ledger: FAILED, noticed: true }, 'S1 0 "3", charged, opened'],
  [
    "no budget, told failure that goes on",
    { ledger: SUPPRESSED, noticed: true },
    'S1 0 "3", charged, opened',
  ],
  ["no budget, notice but a claim", { ledger: OPEN, noticed: true }, 'S1 1 "3", charged'],
  ["another session", { stored: stored(9, "", { session: "S0" }) }, 'S1 1 "", charged'],
  [
    "another session, told failure",
    { stored: stored(9, "3", { session: "S0" }), ledger: FAILED, noticed: true },
    'S1 0 "3", charged, opened',
  ],
  ["no ledger charges every time", { stored: stored(4, "") }, 'S1 5 "", charged'],
  [
    "no ledger charges an observation",
    { stored: stored(4, ""), mode: "observe" },
    'S1 5 "", charged',
  ],
  ["another epoch", { stored: stored(4, "2"), ledger: OPEN }, 'S1 5 "3", charged'],
  [
    "another epoch, observed",
    { stored: stored(4, "2"), ledger: OPEN, mode: "observe" },
    'S1 5 "3", charged',
  ],
  ["same epoch, observed", { stored: stored(4, "3"), ledger: OPEN, mode: "observe" }, 'S1 4 "3"'],
  ["same epoch, blocked", { stored: stored(4, "3"), ledger: OPEN }, 'S1 5 "3", charged'],
  [
    "same epoch, charged by this process",
    { stored: stored(4, "3"), ledger: OPEN, chargedEpoch: "3" },
    'S1 4 "3"',
  ],
  ["epochs are text", { stored: stored(4, "03"), ledger: OPEN }, 'S1 5 "3", charged'],
  [
    "second delivery",
    { stored: stored(4, "3", { charge: { ...CHARGE, pid: 11 } }), ledger: OPEN },
    'S1 4 "3", second',
  ],
  [
    "second delivery of the first failure",
    {
      stored: stored(0, "3", { charge: { ...CHARGE, pid: 11 } }),
      ledger: FAILED,
      noticed: true,
      mode: "observe",
    },
    'S1 0 "3", opened, second',
  ],
  [
    "charged before this process began",
    { stored: stored(4, "", { charge: { ...CHARGE, pid: 11, atMs: 899 } }) },
    'S1 5 "", charged',
  ],
  [
    "charged as this process began",
    { stored: stored(4, "", { charge: { ...CHARGE, pid: 11, atMs: 900 } }) },
    'S1 4 "", second',
  ],
  ["charged by this process", { stored: stored(4, "", { charge: CHARGE }) }, 'S1 5 "", charged'],
  [
    "another payload",
    { stored: stored(4, "", { charge: { ...CHARGE, event: "cc", pid: 11 } }) },
    'S1 5 "", charged',
  ],
  ["no charge recorded", { stored: stored(4, "", { charge: undefined }) }, 'S1 5 "", charged'],
];

Deno.test("account: every rule of charging holds", () => {
  const seen = ACCOUNTS.map(([what, changes]) => [what, told(account({ ...BASE, ...changes }))]);
  assertEquals(seen, ACCOUNTS.map(([what, , expected]) => [what, expected]));
});

Deno.test("isFailure: only the two failed outcomes count", () => {
  const words = ["failed", "failed-suppressed", "rewake", "clean", "afk", "arming", "fail", ""];
  assertEquals(words.filter(isFailure), ["failed", "failed-suppressed"]);
});

Deno.test("mayRaiseAlarm: needs every condition, and a count above the budget", () => {
  const verified = { away: false, noticed: true, alarmed: false, outcome: "failed" };
  assertEquals([3, 4].map((count) => mayRaiseAlarm(verified, count, 3)), [false, true]);
  for (
    const change of [{ away: true }, { noticed: false }, { alarmed: true }, { outcome: "clean" }]
  ) {
    assertEquals(mayRaiseAlarm({ ...verified, ...change }, 99, 3), false, JSON.stringify(change));
  }
});

Deno.test("effectiveBudget: stays below the host's cap and allows one block at least", () => {
  const rows = [[3, 8, 3], [5, 3, 2], [50, 8, 7], [8, 8, 7], [9, 0, 9], [5, 1, 1], [5, 2, 1]];
  assertEquals(
    rows.map(([budget = 0, cap = 0]) => effectiveBudget(budget, cap)),
    rows.map(([, , expected]) => expected),
  );
});

/** What one look of a waiting guard sees of the ledger. */
const LOOK = fc.record({
  epoch: fc.constantFrom("", "1", "2", "3"),
  outcome: fc.constantFrom("", "arming", "rewake", "failed", "failed-suppressed", "clean"),
});

Deno.test("account: a stop charges an epoch once at the most, however often it is looked at", () => {
  const stop = fc.record({ looks: fc.array(LOOK, { maxLength: 9 }), last: LOOK });
  fc.assert(
    fc.property(fc.array(stop, { maxLength: 6 }), fc.boolean(), (stops, noticed) => {
      let budget: BlockBudget | undefined;
      for (const [index, { looks, last }] of stops.entries()) {
        let chargedEpoch: string | undefined;
        const charges = new Map<string, number>();
        const calls = [...looks, last].map((ledger, call) => ({
          ledger,
          mode: call === looks.length ? "block" as const : "observe" as const,
        }));
        for (const { ledger, mode } of calls) {
          const before = budget;
          const accounted = account({
            mode,
            sessionId: "S1",
            stored: before,
            ledger,
            noticed,
            chargedEpoch,
            charge: { event: "aa", atMs: 1_000 * (index + 1), pid: index + 10 },
            startedAtMs: 1_000 * (index + 1) - 1,
          });
          const added = accounted.budget.count - (before?.count ?? 0);
          assert(added === 0 || added === 1, `count moved by ${added}`);
          if (accounted.charged) {
            chargedEpoch = accounted.budget.epoch;
            // An epoch may come back only in a ledger that went backwards; then it is a new one.
            if (before?.epoch !== ledger.epoch) charges.set(ledger.epoch, 0);
            charges.set(ledger.epoch, (charges.get(ledger.epoch) ?? 0) + 1);
          }
          budget = accounted.budget;
        }
        for (const [epoch, count] of charges) {
          if (epoch !== "") assert(count <= 1, `epoch ${epoch} was charged ${count} times`);
        }
      }
    }),
    { numRuns: 3_000 },
  );
});

Deno.test("account: any number of deliveries of one stop charge it once", () => {
  const deliveries = fc.array(fc.integer({ min: 11, max: 40 }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(
      deliveries,
      fc.nat({ max: 9 }),
      LOOK,
      fc.boolean(),
      (pids, count, ledger, noticed) => {
        let budget: BlockBudget = stored(count, "0");
        for (const [order, pid] of [...new Set(pids)].entries()) {
          const charge = { event: "aa", atMs: 1_000 + order, pid };
          const request = { ...BASE, stored: budget, ledger, noticed, charge };
          budget = account(request).budget;
        }
        assertEquals(budget.count, count + 1);
      },
    ),
    { numRuns: 3_000 },
  );
});

Deno.test("mayRaiseAlarm: a told failure never blocks more than its budget and once more", () => {
  const failing = fc.record({
    // Whether the auto-arm failed anew before this stop, or stood still.
    moved: fc.boolean(),
    looks: fc.integer({ min: 0, max: 9 }),
    outcome: fc.constantFrom("failed", "failed-suppressed"),
  });
  const stops = fc.array(failing, { minLength: 12, maxLength: 40 });
  const start = fc.option(fc.record({ count: fc.nat({ max: 20 }), same: fc.boolean() }));
  fc.assert(
    fc.property(stops, start, fc.integer({ min: 1, max: 7 }), (sequence, from, limit) => {
      let epoch = 1;
      let budget = from === null
        ? undefined
        : stored(from.count, from.same ? String(epoch) : String(epoch - 1));
      let blocks = 0;
      for (const [index, { moved, looks, outcome }] of sequence.entries()) {
        if (moved) epoch++;
        const ledger = { epoch: String(epoch), outcome };
        let chargedEpoch: string | undefined;
        for (let call = 0; call <= looks; call++) {
          const accounted: Accounted = account({
            mode: call === looks ? "block" : "observe",
            sessionId: "S1",
            stored: budget,
            ledger,
            noticed: true,
            chargedEpoch,
            charge: { event: "aa", atMs: 1_000 * (index + 1), pid: index + 10 },
            startedAtMs: 1_000 * (index + 1) - 1,
          });
          if (accounted.charged) chargedEpoch = accounted.budget.epoch;
          budget = accounted.budget;
        }
        const episode = { away: false, noticed: true, alarmed: false, outcome };
        if (mayRaiseAlarm(episode, budget?.count ?? 0, limit)) return;
        blocks++;
        assert(blocks <= limit + 1, `${blocks} blocks with a budget of ${limit}`);
      }
    }),
    { numRuns: 3_000 },
  );
});

Deno.test("ageMs: is told by the start ticks behind the last parenthesis and the uptime", () => {
  const stat = "7 (a ) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 1000 20 21";
  const rows: ReadonlyArray<readonly [text: string, age: number | undefined]> = [
    [`${stat}\n12.50 99.00\n`, 2_500],
    [`${stat}\n9.99 99.00\n`, -10],
    [`${stat}\n`, undefined],
    [`${stat}\nx y\n`, undefined],
    ["7 (a) S 1 2\n12.50 99.00\n", undefined],
    ["", undefined],
  ];
  assertEquals(rows.map(([text]) => ageMs(text)), rows.map(([, age]) => age));
});
