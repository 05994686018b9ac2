/**
 * Trust in custom checks: the record's form, and every reason for a refusal.
 *
 * @module
 */

import { assertEquals, assertMatch } from "@std/assert";
import { judgeCheck } from "../../src/decide/check_trust.ts";
import {
  type CheckFacts,
  type FileFact,
  formatTrustRecord,
  parseCheckId,
  parseTrustRecord,
} from "../../src/state/check_trust.ts";

const HASH = "0123456789abcdef".repeat(4);
const OTHER = "f".repeat(64);

Deno.test("parseCheckId: slugs of any length are ids", () => {
  for (const text of ["a", "A.b_c-9", "-x", "_", "x".repeat(200)]) {
    assertEquals(parseCheckId(text), text);
  }
  for (const text of ["", ".", ".a", "a/b", "a b", "a\n", "ä", "a*"]) {
    assertEquals(parseCheckId(text), undefined, JSON.stringify(text));
  }
});

Deno.test("parseTrustRecord: exactly two lines", () => {
  assertEquals(parseTrustRecord(formatTrustRecord(HASH)), HASH);
  for (
    const text of [
      "",
      `fm-custom-check-v1\n${HASH}\n\n`,
      `fm-custom-check-v1\n${HASH}\nmore\n`,
      `fm-custom-check-v1\n${HASH.toUpperCase()}\n`,
      `fm-custom-check-v1\n${HASH}0\n`,
      `fm-custom-check-v2\n${HASH}\n`,
      `fm-custom-check-v1\r\n${HASH}\r\n`,
      `\n${formatTrustRecord(HASH)}`,
    ]
  ) assertEquals(parseTrustRecord(text), undefined, JSON.stringify(text));
});

function fact(permissions: number, changes: Partial<FileFact> = {}): FileFact {
  return { kind: "file", permissions, device: 1, links: 1, ...changes };
}

const GOOD: CheckFacts = {
  stateDevice: 1,
  check: fact(0o700),
  trust: fact(0o600),
  recordedHash: HASH,
  script: new Uint8Array(),
  scriptHash: HASH,
};

Deno.test("judgeCheck: the registered bytes are trusted, other bytes are changed", () => {
  assertEquals(judgeCheck(GOOD), { kind: "trusted", hash: HASH });
  assertEquals(judgeCheck({ ...GOOD, scriptHash: OTHER }), { kind: "changed" });
});

/** What is wrong, and a word of the reason. */
const REJECTED: ReadonlyArray<readonly [Partial<CheckFacts>, RegExp]> = [
  [{ check: fact(0o700, { kind: "absent" }) }, /check is missing/],
  [{ check: fact(0o700, { kind: "link" }) }, /check is a symbolic link/],
  [{ check: fact(0o700, { kind: "directory" }) }, /check is not a regular file/],
  [{ check: fact(0o700, { kind: "unknown" }) }, /cannot be looked at/],
  [{ check: fact(0o755) }, /mode 755 instead of 700/],
  [{ check: fact(0o4700) }, /mode 4700/],
  [{ check: fact(0o700, { device: 2 }) }, /check is on another device/],
  [{ check: fact(0o700, { links: 2 }) }, /2 hard links/],
  [{ trust: fact(0o600, { kind: "absent" }) }, /not registered/],
  [{ trust: fact(0o600, { kind: "link" }) }, /trust record is a symbolic link/],
  [{ trust: fact(0o600, { kind: "other" }) }, /trust record is not a regular file/],
  [{ trust: fact(0o644) }, /trust record has mode 644/],
  [{ trust: fact(0o600, { device: 2 }) }, /trust record is on another device/],
  [{ trust: fact(0o600, { links: 0 }) }, /0 hard links/],
  [{ recordedHash: undefined }, /known form/],
  [{ scriptHash: undefined }, /cannot be read/],
];

Deno.test("judgeCheck: one doubt is enough for a refusal, and it is named", () => {
  for (const [changes, because] of REJECTED) {
    const verdict = judgeCheck({ ...GOOD, ...changes });
    assertEquals(verdict.kind, "rejected", JSON.stringify(changes));
    if (verdict.kind === "rejected") assertMatch(verdict.because, because);
  }
});
