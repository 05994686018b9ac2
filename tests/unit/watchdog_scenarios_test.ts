/**
 * When a watchdog ends a session, over whole stories in simulated time: an idle limit of 600 s, looks
 * 30 s apart at most.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import {
  done,
  launched,
  type Payload,
  post,
  pre,
  start,
  stop,
  turnEnd,
} from "../support/activity_session.ts";
import {
  Change,
  type Happening,
  playStory,
  watchdogOptions,
  type WatchdogStory,
} from "../support/watchdog_story.ts";
import { parseWatchdogOptions } from "../../src/decide/watchdog/watchdog_options.ts";

const background = { tool_input: { run_in_background: true } };
const bash = (at: number, id: string): readonly Happening[] => [
  [at, pre(id, "Bash")],
  [at, post(id, {}, "Bash")],
];

const SEED: readonly Happening[] = [
  ...["a", "b", "c", "d"].map((id): Happening => [0, pre(id)]),
  [2_090, post("a", done())],
  [2_093, post("b", done())],
  [2_096, post("c", done())],
  [2_100, post("d", done())],
];

const prompt: Payload = { hook_event_name: "UserPromptSubmit" };
const permission: Payload = { hook_event_name: "PermissionRequest", tool_name: "Bash" };

/** Name, what it comes to, and the story. */
const STORIES: readonly (readonly [name: string, end: string, story: WatchdogStory])[] = [
  ["four subagents for 35 minutes, then silence (1)", "idle 2700", { happenings: SEED }],
  ["the same with a call in between (2)", "idle 3250", {
    happenings: [...SEED, ...bash(2_650, "x")],
  }],
  ["an agent in the background (3)", "idle 2100", {
    happenings: [
      [0, pre("t", "Agent", background)],
      [0, start("A")],
      [1, post("t", launched("A"))],
      [1_500, stop("A")],
    ],
  }],
  ["a refused launch, and nothing else ever (8, 88)", "idle 1500", {
    happenings: [[0, start("Z")], [0, stop("Z")], [0, pre("t")]],
  }],
  ["an agent that never returns (49)", "idle 4200", {
    happenings: [[0, pre("t", "Agent", background)], [0, start("A")]],
  }],
  ["an agent whose transcript grows (50)", "wall 14400", {
    happenings: [
      [0, { hook_event_name: "SessionStart", transcript_path: "/t/S1.jsonl" }],
      [0, pre("t", "Agent", background)],
      [0, start("A")],
    ],
    transcripts: {
      "/t/S1/subagents/agent-A.jsonl": Array.from(
        { length: 30 },
        (_, index) => 600 * (index + 1) - 10,
      ),
    },
  }],
  ["an agent of three hours that falls silent (51)", "idle 11400", {
    happenings: [
      [0, pre("t", "Agent", background)],
      [0, start("A")],
      ...Array.from({ length: 17 }, (_, index): Happening => {
        return [600 * (index + 1), pre(`c${index}`, "Read", { agent_id: "A" })];
      }),
      ...Array.from({ length: 17 }, (_, index): Happening => {
        return [600 * (index + 1), post(`c${index}`, {}, "Read", { agent_id: "A" })];
      }),
    ],
  }],
  ["a call of fifteen minutes (52)", "idle 1500", {
    happenings: [[0, pre("b", "Bash")], [900, post("b", {}, "Bash")]],
  }],
  ["a call of twenty-five minutes (52)", "idle 1800", {
    happenings: [[0, pre("b", "Bash")]],
  }],
  ["a permission that nobody gives, without a terminal (53)", "idle 605", {
    happenings: [[0, pre("b", "Bash")], [5, permission]],
  }],
  ["a permission that nobody gives, at a terminal (53)", "nothing", {
    happenings: [[0, pre("b", "Bash")], [5, permission]],
    hasTerminal: true,
    flags: { "wall-timeout": "0" },
  }],
  ["a turn that has ended, at a terminal, for eight hours (54)", "nothing", {
    happenings: [[0, prompt], [10, turnEnd()]],
    hasTerminal: true,
    until: 28_800,
    flags: { "wall-timeout": "0" },
  }],
  ["a turn that has ended, without a terminal (54)", "idle 610", {
    happenings: [[0, prompt], [10, turnEnd()]],
  }],
  ["a turn that has ended, with a limit of its own", "idle 70", {
    happenings: [[0, prompt], [10, turnEnd()]],
    flags: { "post-stop-timeout": "60" },
  }],
  ["a turn that has ended with a scheduled wake (55)", "idle 7810", {
    happenings: [[0, prompt], [10, turnEnd({ session_crons: [{ id: "c" }] })]],
  }],
  ["a machine that sleeps for two hours (56)", "idle 610", {
    happenings: [...bash(10, "x"), [300, new Change("suspend", 7_200)]],
  }],
  ["a watchdog that stands still for twenty minutes (57)", "idle 1780", {
    happenings: [...bash(10, "x"), [300, new Change("stopped", 1_200)]],
  }],
  ["no hook ever, with the wall clock (59)", "wall 14400", { happenings: [] }],
  ["no hook ever, which counts as idle (59)", "idle 720", {
    happenings: [],
    flags: { "no-signal": "kill" },
  }],
  ["a file that is removed in between (60)", "idle 900", {
    happenings: [...bash(10, "x"), [300, new Change("deleted")]],
  }],
  ["a plain counter that is stuck at two (61)", "idle 4210", {
    happenings: [[10, new Change("seed", 2)]],
  }],
  ["calls, and then nothing (62)", "idle 1300", {
    happenings: [
      ...SEED.slice(0, 4),
      ...["a", "b", "c", "d"].map((id): Happening => {
        return [500, post(id, done())];
      }),
      ...bash(600, "commit"),
      ...bash(700, "push"),
    ],
  }],
  ["the wall clock while three agents run (63)", "wall 14400", {
    happenings: ["A", "B", "C"].flatMap((agent): Happening[] => [
      [0, pre(`t${agent}`, "Agent", background)],
      [0, start(agent)],
      ...Array.from({ length: 29 }, (_, index): Happening => {
        return [500 * index + 1, { ...start(agent) }];
      }),
    ]),
  }],
  ["what the earliest tool did, over the first story (64)", "idle 2700", {
    happenings: SEED,
    flags: { classic: true },
  }],
  ["what the earliest tool did, with a call in between (64)", "idle 3250", {
    happenings: [...SEED, ...bash(2_650, "x")],
    flags: { classic: true },
  }],
  ["a full disk: only the file's time moves (40)", "idle 1110", {
    happenings: [...bash(10, "x"), [510, new Change("touched")]],
  }],
  ["a primary that is parked, until its watcher dies (82)", "idle 11400", {
    happenings: [
      [0, prompt],
      [10, new Change("supervised", 1)],
      [20, turnEnd()],
      [10_800, new Change("supervised", 0)],
    ],
  }],
  ["a clock that is set back and forth (34)", "idle 4210", {
    happenings: [
      [10, pre("t", "Agent", background)],
      [10, start("A")],
      [100, new Change("clock", -7_200)],
      [200, new Change("clock", 10_800)],
    ],
  }],
  ["holds that are switched off", "idle 600", {
    happenings: [[0, pre("t", "Agent", background)], [0, start("A")]],
    flags: { hold: "none" },
  }],
];

for (const [name, end, story] of STORIES) {
  Deno.test(`watchdog: ${name}`, async () => {
    const found = await playStory(story);
    // A look may be as late as the shortest wait.
    const [reason = "", at = ""] = found.end.split(" ");
    const [wanted = "", when = ""] = end.split(" ");
    const isAt = when === "" || (Number(at) >= Number(when) && Number(at) <= Number(when) + 30);
    assertEquals([reason, isAt], [wanted, true], `${found.end} instead of ${end}`);
  });
}

Deno.test("watchdog: what it notices on the way is told", async () => {
  const notes = async (happenings: readonly Happening[]) =>
    (await playStory({ happenings, flags: { "wall-timeout": "3000" } })).notes;
  assertEquals(await notes([[100, new Change("stopped", 1_200)]]), ["gap", "no-signal"]);
  assertEquals(await notes([[100, new Change("suspend", 7_200)]]), ["jump", "no-signal"]);
});

Deno.test("watchdog: a turn's end is told as such", async () => {
  const { detail } = await playStory({ happenings: [[0, prompt], [10, turnEnd()]] });
  assertEquals(detail, "post-stop");
});

Deno.test("watchdog options: the poll fits the limits, and is told to", () => {
  assertEquals(watchdogOptions({ "idle-timeout": "20" }).poll, 5);
  assertEquals(watchdogOptions({ "idle-timeout": "2" }).poll, 1);
  assertEquals(watchdogOptions().poll, 30);
});

Deno.test("watchdog options: what is wrong is a usage error, what a variable holds is ignored", () => {
  const parse = (flag: string, value: string) =>
    parseWatchdogOptions({
      flag: (name) => name === flag ? value : undefined,
      has: (name) => name === flag,
      variable: (name) => name === "TURNGUARD_IDLE_TIMEOUT" ? "soon" : undefined,
      mode: "runner",
    });
  const wrong: readonly (readonly [string, string])[] = [
    ["idle-timeout", "-1"],
    ["idle-timeout", "1w"],
    ["poll", "0"],
    ["hold", "sleep"],
    ["hold-max", "human"],
    ["progress", "file:relative"],
    ["idle-exit-code", "256"],
    ["waiting", "maybe"],
    ["signal", "KILL"],
  ];
  for (const [flag, value] of wrong) assertEquals(parse(flag, value).kind, "usage", flag);
  const parsed = parse("poll", "10");
  assertEquals(parsed.kind === "options" && parsed.ignored, ["TURNGUARD_IDLE_TIMEOUT"]);
});
