/**
 * Numbers as the environment carries them.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { type NumberForm, numberSetting } from "../../src/decide/number.ts";

const MALFORMED = "malformed";

/** A text, and its value in each form. */
const FORMS: ReadonlyArray<
  readonly [
    text: string,
    digits: number | typeof MALFORMED,
    positive: number | typeof MALFORMED,
    integer: number | typeof MALFORMED,
  ]
> = [
  ["0", 0, MALFORMED, 0],
  ["1", 1, 1, 1],
  ["300", 300, 300, 300],
  ["00300", 300, 300, 300],
  ["08", 8, 8, 8],
  ["000", 0, MALFORMED, 0],
  [" 300 ", MALFORMED, MALFORMED, 300],
  ["\t300\n", MALFORMED, MALFORMED, 300],
  ["+300", MALFORMED, MALFORMED, 300],
  ["-300", MALFORMED, MALFORMED, -300],
  ["- 300", MALFORMED, MALFORMED, MALFORMED],
  ["--300", MALFORMED, MALFORMED, MALFORMED],
  ["300.5", MALFORMED, MALFORMED, MALFORMED],
  ["3e2", MALFORMED, MALFORMED, MALFORMED],
  ["0x10", MALFORMED, MALFORMED, MALFORMED],
  ["300s", MALFORMED, MALFORMED, MALFORMED],
  ["abc", MALFORMED, MALFORMED, MALFORMED],
  [" ", MALFORMED, MALFORMED, MALFORMED],
  ["3 00", MALFORMED, MALFORMED, MALFORMED],
  ["٣", MALFORMED, MALFORMED, MALFORMED],
  ["NaN", MALFORMED, MALFORMED, MALFORMED],
  ["Infinity", MALFORMED, MALFORMED, MALFORMED],
  ["9".repeat(40), MALFORMED, MALFORMED, MALFORMED],
];

Deno.test("numberSetting: each form takes its own texts and no others", () => {
  for (const [text, digits, positive, integer] of FORMS) {
    const expected = { digits, "positive-digits": positive, integer };
    for (const form of ["digits", "positive-digits", "integer"] as const) {
      const setting = numberSetting(text, form, 42);
      const value = expected[form];
      assertEquals(
        setting,
        value === MALFORMED ? { kind: MALFORMED, value: 42, text } : { kind: "set", value },
        `${form} of ${JSON.stringify(text)}`,
      );
    }
  }
});

Deno.test("numberSetting: unset and empty are the default", () => {
  for (const text of [undefined, ""]) {
    assertEquals(numberSetting(text, "digits", 7), { kind: "default", value: 7 });
  }
});

Deno.test("numberSetting: any text gives a finite number and never an error", () => {
  const forms = fc.constantFrom<NumberForm[]>("digits", "positive-digits", "integer");
  const texts = fc.oneof(fc.string({ unit: "binary" }), fc.stringMatching(/^[ +-]?[0-9]{0,20}$/));
  fc.assert(fc.property(texts, forms, fc.nat(), (text, form, fallback) => {
    const setting = numberSetting(text, form, fallback);
    assert(Number.isSafeInteger(setting.value));
    if (setting.kind !== "set") assertEquals(setting.value, fallback);
  }));
});
