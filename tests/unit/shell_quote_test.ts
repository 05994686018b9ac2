/** A quoted word is read by every shell that Codex may use as exactly the text it was made from. */

import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { shellQuote } from "../../src/harness/shell_quote.ts";
import { ALL_SHELLS, underEachShell } from "../support/shells.ts";
import { runProgram } from "../support/turnguard.ts";

/** Characters that some shell gives a meaning to, and some that none does. */
const CHARACTERS = [..."'\"\\$`!*?[]{}()<>|&;#~%^= \t\na/é漢😀-"];

const TABLE: ReadonlyArray<readonly [text: string, quoted: string]> = [
  ["", "''"],
  ["/opt/tg", "'/opt/tg'"],
  ["a b", "'a b'"],
  ["it's", "'it'\\''s'"],
  ['$HOME `id` "x"', "'$HOME `id` \"x\"'"],
  ["a\\b", "'a'\\\\'b'"],
  ["\\'", "''\\\\''\\'''"],
];

for (const [text, quoted] of TABLE) {
  Deno.test(`shellQuote: ${JSON.stringify(text)} becomes ${quoted}`, () => {
    assertEquals(shellQuote(text), quoted);
  });
}

underEachShell(
  ALL_SHELLS,
  (shell) => `shellQuote: ${shell} reads back what was quoted`,
  async (path) => {
    const word = fc.array(fc.constantFrom(...CHARACTERS), { maxLength: 12 })
      .map((characters) => characters.join(""));
    const texts = fc.sample(word, { numRuns: 400, seed: 1 });
    const words = texts.map(shellQuote).join(" ");
    const { stdout } = await runProgram([
      path,
      "-c",
      `exec /usr/bin/printf '%s\\0' ${words}`,
    ], { env: { HOME: "/nonexistent" } });
    assertEquals(stdout.split("\0").slice(0, -1), texts);
  },
);
