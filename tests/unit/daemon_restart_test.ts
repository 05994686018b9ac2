import { assertEquals } from "@std/assert";
import { afterCrash, type Restart } from "../../src/decide/daemon_restart.ts";

const SETTINGS = { threshold: 2, windowSeconds: 60, normalSeconds: 5, backoffSeconds: 90 };

/** Earlier crashes and the second of one more, and what follows. */
const CRASHES: readonly (readonly [times: readonly number[], now: number, restart: Restart])[] = [
  [[], 10, { kind: "restart", waitSeconds: 5, crashes: 1, times: [10] }],
  [[10], 70, { kind: "restart", waitSeconds: 5, crashes: 2, times: [10, 70] }],
  [[10, 20], 70, { kind: "back-off", waitSeconds: 90, crashes: 3, times: [] }],
  [[9, 20], 70, { kind: "restart", waitSeconds: 5, crashes: 2, times: [20, 70] }],
];

Deno.test("afterCrash: crashes within the window count, one above the threshold backs off", () => {
  for (const [times, now, restart] of CRASHES) {
    assertEquals(afterCrash(times, now, SETTINGS), restart, `${times} and ${now}`);
  }
});

Deno.test("afterCrash: without a threshold the first crash backs off", () => {
  assertEquals(afterCrash([], 10, { ...SETTINGS, threshold: 0 }).kind, "back-off");
});
