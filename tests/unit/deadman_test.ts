/** The deadman's rules: which samples count, when they make an alarm, and when it may be told. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import {
  alarmMessage,
  type DeadmanMemory,
  type DeadmanTiming,
  isAlarm,
  isAlarmDue,
  isBooting,
  isOverdue,
  nextAlarmSeconds,
  NO_MEMORY,
  remember,
  type Sample,
} from "../../src/decide/deadman.ts";
import { cronFields } from "../../src/decide/deadman_schedule.ts";

const TIMING: DeadmanTiming = {
  intervalSeconds: 300,
  cooldownSeconds: 3_600,
  bootGraceSeconds: 600,
};

const START = 1_800_000_000;

type Step = readonly [kind: Sample["kind"], afterSeconds: number, uptimeSeconds?: number];

/** The memory after samples, each so many seconds after the one before. */
function after(steps: readonly Step[], memory: DeadmanMemory = NO_MEMORY): DeadmanMemory {
  let nowSeconds = START;
  let current = memory;
  for (const [kind, afterSeconds, uptimeSeconds] of steps) {
    nowSeconds += afterSeconds;
    current = remember(current, { kind, because: kind }, { nowSeconds, uptimeSeconds }, TIMING);
  }
  return current;
}

const STREAKS: ReadonlyArray<readonly [name: string, steps: readonly Step[], streak: number]> = [
  ["one is none", [["unhealthy", 0]], 1],
  ["two in a row", [["unhealthy", 0], ["unhealthy", 300]], 2],
  ["a healthy one between", [["unhealthy", 0], ["healthy", 300], ["unhealthy", 300]], 1],
  ["a recovery", [["unhealthy", 0], ["unhealthy", 300], ["healthy", 300]], 0],
  ["an unknown one between does not count", [
    ["unhealthy", 0],
    ["unknown", 300],
    ["unhealthy", 300],
  ], 2],
  ["unknown ones only", [["unknown", 0], ["unknown", 300]], 0],
  ["unknown for longer than a gap", [
    ["unhealthy", 0],
    ["unknown", 300],
    ["unknown", 300],
    ["unhealthy", 300],
  ], 1],
  ["up to two and a half intervals", [["unhealthy", 0], ["unhealthy", 750]], 2],
  ["the machine slept", [["unhealthy", 0], ["unhealthy", 751]], 1],
  ["slept in the middle of an alarm", [
    ["unhealthy", 0],
    ["unhealthy", 300],
    ["unhealthy", 9_000],
  ], 1],
  ["two after the sleep", [["unhealthy", 0], ["unhealthy", 9_000], ["unhealthy", 300]], 2],
  ["the clock went back", [["unhealthy", 0], ["unhealthy", -1]], 1],
  ["two after the clock went back", [
    ["unhealthy", 0],
    ["unhealthy", -9_000],
    ["unhealthy", 300],
  ], 2],
  ["the same second", [["unhealthy", 0], ["unhealthy", 0]], 2],
  ["a restart between", [["unhealthy", 0, 50_000], ["unhealthy", 700, 650]], 1],
  ["no restart between", [["unhealthy", 0, 50_000], ["unhealthy", 700, 50_700]], 2],
  ["grace forgets what was before the boot", [
    ["unhealthy", 0],
    ["grace", 100, 50],
    ["unhealthy", 300, 350],
  ], 1],
];

for (const [name, steps, streak] of STREAKS) {
  Deno.test(`deadman streak: ${name}`, () => {
    const memory = after(steps);
    assertEquals(memory.streak, streak);
    assertEquals(isAlarm(memory), streak >= 2);
  });
}

Deno.test("deadman: booting is an uptime below the grace, where it is known", () => {
  const booting = (uptimeSeconds: number | undefined, bootGraceSeconds = 600) =>
    isBooting({ nowSeconds: START, uptimeSeconds }, { ...TIMING, bootGraceSeconds });
  assertEquals([booting(0), booting(599), booting(600)], [true, true, false]);
  assertEquals([booting(undefined), booting(0, 0)], [false, false]);
});

Deno.test("deadman: an unknown sample is never an alarm, however long the streak", () => {
  const memory = after([["unhealthy", 0], ["unhealthy", 300], ["unknown", 300]]);
  assertEquals(memory.streak, 2);
  assertEquals([isAlarm(memory), isAlarmDue(memory, TIMING, START + 600)], [false, false]);
});

Deno.test("deadman: an alarm is told again only after the cooldown, recovered or not", () => {
  const told = { ...after([["unhealthy", 0], ["unhealthy", 300]]), toldAtSeconds: START + 300 };
  const again = after([["healthy", 600], ["unhealthy", 300], ["unhealthy", 300]], told);
  assertEquals(isAlarm(again), true);
  assertEquals(nextAlarmSeconds(again, TIMING), START + 3_900);
  assertEquals(isAlarmDue(again, TIMING, START + 3_899), false);
  assertEquals(isAlarmDue(again, TIMING, START + 3_900), true);
});

Deno.test("deadman: a failed telling is tried again after an interval, timers being early allowed", () => {
  for (const outcome of ["failed", "started"] as const) {
    const attempt = { atSeconds: START + 300, outcome, because: "" };
    const memory = { ...after([["unhealthy", 0], ["unhealthy", 300]]), attempt };
    assertEquals(isAlarmDue(memory, TIMING, START + 310), false);
    assertEquals(isAlarmDue(memory, TIMING, START + 599), true);
  }
});

Deno.test("deadman: a clock that was set back costs one cooldown at most", () => {
  const future = START + 40_000_000;
  const attempt = { atSeconds: future, outcome: "told", because: "" } as const;
  const memory = after([["unhealthy", 0], ["unhealthy", 300]], {
    ...NO_MEMORY,
    toldAtSeconds: future,
    attempt,
  });
  assertEquals(nextAlarmSeconds(memory, TIMING), START + 3_600);
});

Deno.test("deadman: a schedule is overdue once it missed two samples", () => {
  const memory = after([["healthy", 0]]);
  assertEquals(isOverdue(memory, TIMING, START + 750), false);
  assertEquals(isOverdue(memory, TIMING, START + 751), true);
  assertEquals(isOverdue(NO_MEMORY, TIMING, START), false);
});

Deno.test("deadman: the message is one line that says where, why and for how long", () => {
  const message = alarmMessage("/a b", after([["unhealthy", 0], ["unhealthy", 300]]));
  assertEquals(
    message,
    "turnguard: work in /a b is unsupervised: unhealthy. Seen in 2 samples over 300 s.",
  );
  assertStringIncludes(alarmMessage("/h", NO_MEMORY), "/h");
});

Deno.test("deadman: whatever happens, it tells at most once a cooldown and only after two in a row", () => {
  const steps = fc.array(
    fc.tuple(
      fc.constantFrom<Sample["kind"]>("healthy", "unhealthy", "unknown", "grace"),
      fc.integer({ min: 0, max: 2_000 }),
      fc.boolean(),
    ),
    { maxLength: 60 },
  );
  fc.assert(fc.property(steps, (sequence) => {
    let memory = NO_MEMORY;
    let nowSeconds = START;
    let lastTold = -Infinity;
    let previous: Sample["kind"] = "healthy";
    for (const [kind, laterSeconds, succeeds] of sequence) {
      nowSeconds += laterSeconds;
      memory = remember(
        memory,
        { kind, because: "" },
        { nowSeconds, uptimeSeconds: undefined },
        TIMING,
      );
      const counted: Sample["kind"] = kind === "unknown" ? previous : kind;
      if (isAlarmDue(memory, TIMING, nowSeconds)) {
        assertEquals([kind, previous], ["unhealthy", "unhealthy"]);
        assert(nowSeconds - lastTold >= TIMING.cooldownSeconds);
        const outcome = succeeds ? "told" as const : "failed" as const;
        if (succeeds) lastTold = nowSeconds;
        memory = {
          ...memory,
          toldAtSeconds: succeeds ? nowSeconds : memory.toldAtSeconds,
          attempt: { atSeconds: nowSeconds, outcome, because: "" },
        };
      }
      previous = counted;
    }
  }));
});

const CRON: ReadonlyArray<readonly [seconds: number, fields: string | undefined]> = [
  [60, "* * * * *"],
  [120, "*/2 * * * *"],
  [300, "*/5 * * * *"],
  [1_800, "*/30 * * * *"],
  [3_600, "0 * * * *"],
  [7_200, "0 */2 * * *"],
  [43_200, "0 */12 * * *"],
  [86_400, "0 0 * * *"],
  [90, undefined],
  [420, undefined],
  [5_400, undefined],
  [18_000, undefined],
];

Deno.test("deadman schedule: cron repeats what divides an hour or a day evenly", () => {
  for (const [seconds, fields] of CRON) assertEquals(cronFields(seconds), fields, `${seconds}`);
});
