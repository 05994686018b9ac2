import { assertEquals } from "@std/assert";
import { judgeRefusal } from "../../src/decide/watcher_refusal.ts";
import { parsePid } from "../../src/platform/pid.ts";

const HOLDER = parsePid("4242");

/** Age of the beat and of the lock, and what is made of the refusal. */
const ROWS:
  readonly (readonly [beat: number | undefined, lock: number | undefined, kind: string])[] = [
    [10, 10, "already-running"],
    [299, 9_999, "already-running"],
    [300, 9_999, "holder-stale"],
    [899, 9_999, "holder-stale"],
    [900, 9_999, "holder-stalled"],
    [-50, 9_999, "already-running"],
    [undefined, 10, "already-running"],
    [undefined, 400, "holder-stale"],
    [undefined, 9_999, "holder-stale"],
    [undefined, undefined, "already-running"],
  ];

Deno.test("judgeRefusal: a holder is told by its beat, and by its lock while it never beat", () => {
  for (const [beatAgeSeconds, lockAgeSeconds, kind] of ROWS) {
    const refusal = judgeRefusal({
      holder: HOLDER,
      beatAgeSeconds,
      lockAgeSeconds,
      staleGraceSeconds: 300,
      stallBoundSeconds: 900,
    });
    assertEquals(refusal.kind, kind, `beat ${beatAgeSeconds}, lock ${lockAgeSeconds}`);
  }
});

Deno.test("judgeRefusal: a lock that nobody holds yet is being taken by somebody", () => {
  const refusal = judgeRefusal({
    holder: undefined,
    beatAgeSeconds: 9_999,
    lockAgeSeconds: 9_999,
    staleGraceSeconds: 300,
    stallBoundSeconds: 900,
  });
  assertEquals(refusal, { kind: "already-running", pid: undefined });
});
