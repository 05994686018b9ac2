import { assertEquals } from "@std/assert";
import {
  beatWaitSeconds,
  isPerhapsTheClock,
  type LateBeat,
  startTicksOf,
} from "../../src/decide/clock_jump.ts";
import { parseProcClocks, parseWakeTime } from "../../src/platform/machine_clocks.ts";

const LATE: LateBeat = {
  ageSeconds: 4_000,
  graceSeconds: 300,
  pollSeconds: 15,
  lockAgeSeconds: 5_000,
  holderStartTicks: undefined,
  clocks: { kind: "unknown" },
};

function sinceBoot(upSeconds: number, awakeSeconds: number): Partial<LateBeat> {
  return { clocks: { kind: "since-boot", upSeconds, awakeSeconds } };
}

function sinceWake(wokeAgoSeconds: number): Partial<LateBeat> {
  return { clocks: { kind: "since-wake", wokeAgoSeconds } };
}

const ROWS: readonly (readonly [name: string, beat: Partial<LateBeat>, perhaps: boolean])[] = [
  ["clocks that tell nothing", {}, false],
  ["a beat that is not late", { ageSeconds: 299, ...sinceBoot(90_000, 10_000) }, false],
  ["a beat from the near future", { ageSeconds: -60 }, false],
  ["a beat from the far future", { ageSeconds: -61 }, true],
  ["a machine that slept as long as the beat is overdue", sinceBoot(10_000, 6_300), true],
  ["a machine that slept, but less than the beat is overdue", sinceBoot(10_000, 6_301), false],
  ["a machine that never slept", sinceBoot(10_000, 9_960), false],
  ["noise after a year", { ageSeconds: 301, ...sinceBoot(30_000_000, 29_800_000) }, false],
  ["a short sleep", { ageSeconds: 310, ...sinceBoot(4_000, 3_950) }, false],
  ["a machine that woke up right now", sinceWake(3), true],
  ["a machine that woke up a poll ago", sinceWake(16), false],
  ["a machine that woke up before the beat", { ageSeconds: 310, ...sinceWake(311) }, false],
  ["a clock that was set forward", {
    lockAgeSeconds: 4_100,
    holderStartTicks: 990_000,
    ...sinceBoot(10_000, 9_990),
  }, true],
  ["a lock that its holder took late", {
    lockAgeSeconds: 90,
    holderStartTicks: 500_000,
    ...sinceBoot(10_000, 9_990),
  }, false],
];

Deno.test("isPerhapsTheClock: only what sleep or a step can explain gets a poll of grace", () => {
  const found = ROWS.map(([name, beat]) => [name, isPerhapsTheClock({ ...LATE, ...beat })]);
  assertEquals(found, ROWS.map(([name, , perhaps]) => [name, perhaps]));
});

Deno.test("startTicksOf: reads a Linux identity and no other", () => {
  assertEquals(startTicksOf("linux-starttime=123 cmdline-hex=61"), 123);
  assertEquals(startTicksOf("Tue Dec  1 03:00:00 2026 /bin/sh"), undefined);
});

Deno.test("beatWaitSeconds: a poll and a little, never longer than a hook's host allows", () => {
  assertEquals([1, 15, 300].map(beatWaitSeconds), [3, 17, 17]);
});

Deno.test("parseProcClocks: time since boot, and the first processor's columns as time awake", () => {
  const stat = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 100 200 300 400 0 0 0 0 50 50\nbtime 1\n";
  assertEquals(parseProcClocks(`25.50 40.00\n${stat}`), {
    kind: "since-boot",
    upSeconds: 25.5,
    awakeSeconds: 10,
  });
  for (const text of ["", "25.50 40.00\n", `x\n${stat}`, "25.50 1.0\ncpu0 0 0 0 0 0 0 0 0 0 0\n"]) {
    assertEquals(parseProcClocks(text), { kind: "unknown" }, text);
  }
});

Deno.test("parseWakeTime: seconds since the last waking up, if there was one", () => {
  const text = "{ sec = 1700000000, usec = 5 } Tue Nov 14 22:13:20 2023\n";
  assertEquals(parseWakeTime(text, 1_700_000_007_500), {
    kind: "since-wake",
    wokeAgoSeconds: 7.5,
  });
  assertEquals(parseWakeTime("{ sec = 0, usec = 0 }\n", 1), { kind: "unknown" });
  assertEquals(parseWakeTime("nonsense", 1), { kind: "unknown" });
});
