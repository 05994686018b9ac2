/**
 * Whether a beat proves that its writer still runs.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { describeBeacon, judgeFreshness } from "../../src/decide/freshness.ts";

/** Age and grace in seconds, and what they come to. */
const BEATS: ReadonlyArray<
  readonly [age: number, grace: number, kind: "fresh" | "stale" | "clock-skew"]
> = [
  [0, 300, "fresh"],
  [299, 300, "fresh"],
  [300, 300, "stale"],
  [301, 300, "stale"],
  [0, 0, "stale"],
  [0, -1, "stale"],
  [-1, 0, "fresh"],
  [-60, 0, "fresh"],
  [-60, 300, "fresh"],
  [-61, 300, "clock-skew"],
  [-86_400, 300, "clock-skew"],
  [999_999, 1_000_000, "fresh"],
];

Deno.test("judgeFreshness: fresh strictly below the grace and up to a minute ahead", () => {
  for (const [ageSeconds, grace, kind] of BEATS) {
    assertEquals(
      judgeFreshness({ kind: "beat", ageSeconds }, grace),
      { kind, ageSeconds },
      `${ageSeconds} under ${grace}`,
    );
  }
});

Deno.test("judgeFreshness: without a time there is no freshness, whatever the grace", () => {
  for (const kind of ["never", "unreadable"] as const) {
    assertEquals(judgeFreshness({ kind }, 1e9), { kind });
  }
});

Deno.test("judgeFreshness: once stale, a growing age never makes a beat fresh again", () => {
  fc.assert(fc.property(fc.integer(), fc.nat(), fc.integer(), (age, more, grace) => {
    const { kind } = judgeFreshness({ kind: "beat", ageSeconds: age }, grace);
    fc.pre(kind === "stale");
    assertEquals(judgeFreshness({ kind: "beat", ageSeconds: age + more }, grace).kind, "stale");
  }));
});

Deno.test("describeBeacon: the words of the banner", () => {
  assertEquals(describeBeacon({ kind: "never" }), "never");
  assertEquals(describeBeacon({ kind: "unreadable" }), "unknown");
  assertEquals(describeBeacon({ kind: "beat", ageSeconds: 10_000 }), "10000s ago");
  assertEquals(describeBeacon({ kind: "beat", ageSeconds: -60 }), "-60s ago");
});
