import { assertEquals } from "@std/assert";
import { judgeRefusal } from "../../src/decide/watcher_takeover.ts";
import { parsePid } from "../../src/platform/pid.ts";

const HOLDER = parsePid("4242");
const GRACE = { kind: "default", value: 300 } as const;

/** Age of the beat and of the lock, and what is made of the refusal. */
const ROWS:
  readonly (readonly [beat: number | undefined, lock: number | undefined, kind: string])[] = [
    [10, 10, "already-running"],
    [299, 9_999, "already-running"],
    [300, 9_999, "stale"],
    [899, 9_999, "stale"],
    [900, 9_999, "stalled"],
    [-50, 9_999, "already-running"],
    [undefined, 10, "already-running"],
    [undefined, 400, "never-beat"],
    [undefined, 9_999, "never-beat"],
    [undefined, undefined, "already-running"],
  ];

Deno.test("judgeRefusal: a holder is told by its beat, and by its lock while it never beat", () => {
  for (const [beatAgeSeconds, lockAgeSeconds, kind] of ROWS) {
    const refusal = judgeRefusal({
      holder: HOLDER,
      beatAgeSeconds,
      lockAgeSeconds,
      staleGrace: GRACE,
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
    staleGrace: GRACE,
    stallBoundSeconds: 900,
  });
  assertEquals(refusal, { kind: "already-running", pid: undefined });
});
