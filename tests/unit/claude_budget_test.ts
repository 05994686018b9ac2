/**
 * The budget file: what any writer may have left in it, and that nothing is lost on the way.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { type BlockBudget, formatBudget, parseBudget } from "../../src/state/claude_budget.ts";

const TEXTS: ReadonlyArray<readonly [text: string, session: string, count: number, epoch: string]> =
  [
    ["", "", 0, ""],
    ["session=S1\n", "S1", 0, ""],
    ["session=S1\ncount=2\nepoch=3\n", "S1", 2, "3"],
    ["session=S1\ncount=2\nepoch=3", "S1", 2, "3"],
    ["session=\ncount=2\nepoch=\n", "", 2, ""],
    ["session=a=b\ncount=02\nepoch=3\n", "a=b", 2, "3"],
    ["session=S1\ncount=x\nepoch=3\n", "S1", 0, "3"],
    ["session=S1\ncount=-2\nepoch=3\n", "S1", 0, "3"],
    ["session=S1\ncount=1234567890123456\nepoch=3\n", "S1", 0, "3"],
    ["session=S1\r\ncount=2\r\nepoch=3\r\n", "S1\r", 0, "3\r"],
    ["count=2\nsession=S1\nepoch=3\n", "", 0, "3"],
    ["session=S1\ncount=2\nepoch=3\nreblocks=4\nsignature=x\n", "S1", 2, "3"],
  ];

Deno.test("parseBudget: a line without its key is empty, and a count that is none is 0", () => {
  const seen = TEXTS.map(([text]) => [text, parseBudget(text)]);
  assertEquals(
    seen,
    TEXTS.map(([text, session, count, epoch]) => [
      text,
      { session, count, epoch, charge: undefined },
    ]),
  );
});

Deno.test("parseBudget: a charge is whole, or it is none", () => {
  const charges = ["aa 1 2", "AA 1 2", "aa 1", "aa 1 2 3", "aa x 2", " aa 1 2", ""];
  const seen = charges.map((charge) =>
    parseBudget(`session=S\ncount=1\nepoch=\ncharge=${charge}\n`)
  );
  assertEquals(
    seen.map(({ charge }) => charge),
    [{ event: "aa", atMs: 1, pid: 2 }, ...charges.slice(1).map(() => undefined)],
  );
});

Deno.test("formatBudget: what is written is read back, its first three lines as of old", () => {
  const budgets = fc.record<BlockBudget>({
    session: fc.string().filter((id) => !/[\n\0]/.test(id)),
    count: fc.nat(),
    epoch: fc.stringMatching(/^[0-9]{0,6}$/),
    charge: fc.option(
      fc.record({
        event: fc.stringMatching(/^[0-9a-f]{1,64}$/),
        atMs: fc.nat(),
        pid: fc.nat(),
      }),
      { nil: undefined },
    ),
  });
  fc.assert(fc.property(budgets, (budget) => {
    const text = formatBudget(budget);
    assertEquals(parseBudget(text), budget);
    const lines = text.split("\n").slice(0, 3);
    assertEquals(lines, [
      `session=${budget.session}`,
      `count=${budget.count}`,
      `epoch=${budget.epoch}`,
    ]);
  }));
});
