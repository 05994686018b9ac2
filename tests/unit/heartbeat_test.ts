import { assertEquals } from "@std/assert";
import { heartbeatSeconds, nextStreak } from "../../src/decide/heartbeat.ts";

Deno.test("heartbeatSeconds: doubles with each quiet one, up to the cap", () => {
  const at = (streak: number) => heartbeatSeconds(600, 7200, streak);
  assertEquals([0, 1, 2, 3, 4, 5, 1000].map(at), [600, 1200, 2400, 4800, 7200, 7200, 7200]);
});

Deno.test("nextStreak: grows with a heartbeat and starts over with anything else", () => {
  assertEquals(nextStreak(3, "heartbeat"), 4);
  assertEquals(nextStreak(3, "signal: x"), 0);
});
