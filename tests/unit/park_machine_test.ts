/** The table of a Cursor park. */

import { assert, assertEquals } from "@std/assert";
import {
  advance,
  PARK_TABLE,
  type ParkActions,
  type ParkedState,
  type ParkEnd,
  type ParkStep,
} from "../../src/decide/park/machine.ts";

const STATES: readonly (readonly [string, Readonly<Record<string, ParkStep>>])[] = Object.entries(
  PARK_TABLE,
);

/** Where the events lead from the first state on; the last is an end. */
function follow(...events: readonly string[]): string {
  const rows: Readonly<Record<string, Readonly<Record<string, ParkStep>>>> = PARK_TABLE;
  let state = "claim";
  for (const [index, event] of events.entries()) {
    const step = rows[state]?.[event];
    if (step === undefined) return `no ${event} in ${state}`;
    if (step.to === undefined) return index === events.length - 1 ? step.end : `ended ${step.end}`;
    state = step.to;
  }
  return `in ${state}`;
}

const TO_ARM = ["claimed", "below", "here", "needed", "ours"];

const PATHS: readonly (readonly [end: ParkEnd, ...events: readonly string[]])[] = [
  ["second-delivery", "second-delivery"],
  ["lock-busy", "lock-busy"],
  ["state-unwritable", "state-unwritable"],
  ["past-ceiling", "claimed", "past-ceiling"],
  ["at-ceiling-idle", "claimed", "at-ceiling", "none"],
  ["at-ceiling-idle", "claimed", "at-ceiling", "unknown"],
  ["ceiling", "claimed", "at-ceiling", "needed", "told"],
  ["away", "claimed", "at-ceiling", "needed", "away"],
  ["away", "claimed", "below", "away"],
  ["no-need", "claimed", "below", "here", "none", "done"],
  ["superseded", "claimed", "below", "here", "none", "superseded"],
  ["need-unknown", "claimed", "below", "here", "unknown"],
  ["session-lost", "claimed", "below", "here", "needed", "session-lost"],
  ["superseded", ...TO_ARM, "superseded"],
  ["session-lost", ...TO_ARM, "session-lost"],
  ["away", ...TO_ARM, "away"],
  ["signalled", ...TO_ARM, "signalled"],
  ["session-end", ...TO_ARM, "session-end"],
  ["wake", ...TO_ARM, "wake", "needed", "told"],
  ["not-written", ...TO_ARM, "wake", "needed", "not-written"],
  ["no-need", ...TO_ARM, "wake", "none", "done"],
  ["need-unknown", ...TO_ARM, "wake", "unknown"],
  ["wake", ...TO_ARM, "failed", "ours", "wake", "needed", "told"],
  ["session-lost", ...TO_ARM, "failed", "session-lost"],
  ["healthy", ...TO_ARM, "healthy", "needed", "done"],
  ["away", ...TO_ARM, "healthy", "needed", "away"],
  ["rearm", ...TO_ARM, "time-limit", "needed", "told"],
  ["no-need", ...TO_ARM, "time-limit", "none", "done"],
  ["repair", ...TO_ARM, "failed-last", "needed", "block", "left", "told"],
  ["guard-allows", ...TO_ARM, "failed-last", "needed", "allow"],
  ["budget-spent", ...TO_ARM, "failed-last", "needed", "block", "spent"],
  ["superseded", ...TO_ARM, "failed-last", "needed", "block", "superseded"],
  ["budget-moved", ...TO_ARM, "failed-last", "needed", "block", "left", "budget-moved"],
];

Deno.test("PARK_TABLE: the ways through it", () => {
  assertEquals(
    PATHS.map(([, ...events]) => [events.join(" "), follow(...events)]),
    PATHS.map(([end, ...events]) => [events.join(" "), end]),
  );
});

Deno.test("PARK_TABLE: every state can be reached, and none but the arm can come round again", () => {
  const reached = new Set(["claim"]);
  for (const state of reached) {
    const steps = STATES.find(([name]) => name === state)?.[1] ?? {};
    for (const { to } of Object.values(steps)) if (to !== undefined) reached.add(to);
  }
  assertEquals([...reached].toSorted(), STATES.map(([name]) => name).toSorted());
  const back = STATES.flatMap(([name, steps]) =>
    Object.entries(steps)
      .filter(([, { to }]) => to !== undefined && leadsTo(to, name))
      .map(([event]) => `${name} ${event}`)
  );
  assertEquals(back, ["session ours", "arm failed"]);
});

function leadsTo(from: string, goal: string, seen = new Set<string>()): boolean {
  if (from === goal) return true;
  if (seen.has(from)) return false;
  seen.add(from);
  const steps = STATES.find(([name]) => name === from)?.[1] ?? {};
  return Object.values(steps).some(({ to }) => to !== undefined && leadsTo(to, goal, seen));
}

Deno.test("PARK_TABLE: a follow-up is told in the last state, and only where it was needed", () => {
  const told = STATES.filter(([, steps]) => "told" in steps);
  for (const [name, steps] of told) {
    assert(Object.values(steps).every(({ to }) => to === undefined), name);
  }
  assertEquals(told.map(([name]) => name), [
    "tell-ceiling",
    "tell-wake",
    "tell-rearm",
    "tell-repair",
  ]);
  const before = STATES.flatMap(([name, steps]) =>
    Object.entries(steps)
      .filter(([, { to }]) => to?.startsWith("tell-"))
      .map(([event, { to }]) => `${name} ${event} ${to}`)
  );
  assertEquals(before, [
    "ceiling-need needed tell-ceiling",
    "need-of-wake needed tell-wake",
    "need-of-rearm needed tell-rearm",
    "budget left tell-repair",
  ]);
});

Deno.test("advance: does what the state says, once, and follows the table", async () => {
  const asked: string[] = [];
  const answer = <Event>(state: ParkedState, event: Event) => (): Event => {
    asked.push(state);
    return event;
  };
  const need = (state: ParkedState): () => "needed" => answer(state, "needed");
  const tell = (state: ParkedState): () => "told" => answer(state, "told");
  const actions: ParkActions = {
    "bound": answer("bound", "below"),
    "ceiling-need": need("ceiling-need"),
    "tell-ceiling": tell("tell-ceiling"),
    "look-away": answer("look-away", "here"),
    "need": need("need"),
    "session": answer("session", "ours"),
    "arm": answer("arm", "wake"),
    "need-of-wake": need("need-of-wake"),
    "need-of-healthy": need("need-of-healthy"),
    "need-of-repair": need("need-of-repair"),
    "need-of-rearm": need("need-of-rearm"),
    "tell-wake": tell("tell-wake"),
    "tell-rearm": tell("tell-rearm"),
    "judge": answer("judge", "block"),
    "budget": answer("budget", "left"),
    "tell-repair": tell("tell-repair"),
    "reset-idle": answer("reset-idle", "done"),
    "reset-healthy": answer("reset-healthy", "done"),
  };
  let step: ParkStep = { to: "bound" };
  while (step.to !== undefined) step = await advance(step.to, actions);
  assertEquals(step.end, "wake");
  assertEquals(asked, [
    "bound",
    "look-away",
    "need",
    "session",
    "arm",
    "need-of-wake",
    "tell-wake",
  ]);
});
