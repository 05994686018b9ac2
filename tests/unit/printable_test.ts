/**
 * Text from payloads and files, made safe for a terminal.
 *
 * @module
 */

import { assert, assertEquals, assertNotMatch } from "@std/assert";
import fc from "fast-check";
import { printable, printableWithin } from "../../src/platform/printable.ts";

/** What must never reach a terminal: controls, line separators, direction changes, lone surrogates. */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/u;

const TEXTS: ReadonlyArray<readonly [text: string, shown: string]> = [
  ["plain", "plain"],
  ["caf\u00e9 \u4f60\u597d \u{1f600}", "caf\u00e9 \u4f60\u597d \u{1f600}"],
  ["a\nb", "a\\x0ab"],
  ["\u001b[31mred", "\\x1b[31mred"],
  ["\u009b31m", "\\x9b31m"],
  ["\0", "\\x00"],
  ["\u007f", "\\x7f"],
  ["\u2028", "\\u{2028}"],
  ["\u202egnp.exe", "\\u{202e}gnp.exe"],
  ["\ud800", "\\u{fffd}"],
  ["back\\slash", "back\\slash"],
];

Deno.test("printable: shows what could steer a terminal and keeps the rest", () => {
  for (const [text, shown] of TEXTS) assertEquals(printable(text), shown);
});

Deno.test("printable: no text comes out unsafe", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    assertNotMatch(printable(text), UNSAFE);
  }));
  for (let code = 0; code < 0x3000; code++) {
    assertNotMatch(printable(String.fromCharCode(code)), UNSAFE, code.toString(16));
  }
});

Deno.test("printable: code units without a partner do not come out either", () => {
  const units = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 });
  fc.assert(fc.property(units, (codes) => {
    const text = printable(String.fromCharCode(...codes));
    assertNotMatch(text, UNSAFE);
    assert(text.isWellFormed());
  }));
});

Deno.test("printableWithin: never longer than asked, and marked where cut", () => {
  assertEquals(printableWithin("abc", 3), "abc");
  assertEquals(printableWithin("abcd", 3), "ab…");
  fc.assert(fc.property(
    fc.string({ unit: "binary" }),
    fc.integer({ min: 1, max: 50 }),
    (text, maximum) => {
      const shown = printableWithin(text, maximum);
      assert(shown.length <= maximum);
      if (printable(text).length > maximum) assert(shown.endsWith("…"));
    },
  ));
});
