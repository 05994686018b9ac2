/**
 * A Cursor park from its claim to its last word, as a table: what every event of every state leads to.
 *
 * To be in a state is to do the one thing that its name says; the event is what came of it. Nothing else
 * happens between two states, so that the table is the whole of what a park does.
 */

import type { LoopStanding } from "./loop_count.ts";

/** Whether something needs supervision. */
type Need = "needed" | "none" | "unknown";

/** What telling a follow-up came to: told, or why not. */
type Told = "told" | Refusal | "not-written";

/** Why a park may not change anything any more, as its last look before a change shows. */
export type Refusal = "superseded" | "session-lost" | "away" | "lock-busy" | "state-unwritable";

/** What an arm came to. */
export type ArmEvent =
  | "wake"
  | "healthy"
  /** No wake and no watcher; another arm may be tried. */
  | "failed"
  /** As `failed`, after the last arm that is allowed. */
  | "failed-last"
  | "away"
  | "superseded"
  | "session-lost"
  | "signalled"
  | "session-end"
  /** The time that the host gives the hook is nearly over. */
  | "time-limit";

/** The states, each with the events that it can come to. */
export interface ParkEvents {
  /** Take the baton, over any other park. */
  readonly "claim": "claimed" | "second-delivery" | "lock-busy" | "state-unwritable";
  /** Compare the host's count of follow-ups with the ceiling. */
  readonly "bound": LoopStanding;
  /** At the ceiling: is there anything to be loud about? */
  readonly "ceiling-need": Need;
  readonly "tell-ceiling": Told;
  /** Look for away or quiet mode. */
  readonly "look-away": "here" | "away";
  /** Before anything is armed. */
  readonly "need": Need;
  /** Prove that the session lock is still ours; asked before every arm. */
  readonly "session": "ours" | "session-lost";
  /** Arm and wait, until the arm ends or the park has to go. */
  readonly "arm": ArmEvent;
  /** After an arm that brought a wake: is it still wanted? */
  readonly "need-of-wake": Need;
  /** After an arm that left a healthy watcher. */
  readonly "need-of-healthy": Need;
  /** After the last arm that failed. */
  readonly "need-of-repair": Need;
  /** After the time limit. */
  readonly "need-of-rearm": Need;
  readonly "tell-wake": Told;
  readonly "tell-rearm": Told;
  /** Judge the turn end as the guard does. */
  readonly "judge": "allow" | "block";
  /** Look at the repair budget of this session. */
  readonly "budget": "left" | "spent" | "superseded";
  readonly "tell-repair": Told | "budget-moved";
  /** Forget the repair budget: nobody needs supervision. */
  readonly "reset-idle": "done" | Refusal;
  /** Forget the repair budget: supervision is proven. */
  readonly "reset-healthy": "done" | Refusal;
}

/** A state of a park. */
export type ParkState = keyof ParkEvents;

/** How a park ended, by a word for the journal. */
export type ParkEnd =
  | "second-delivery"
  | "past-ceiling"
  | "at-ceiling-idle"
  | "ceiling"
  | "no-need"
  | "need-unknown"
  | "healthy"
  | "guard-allows"
  | "budget-spent"
  | "budget-moved"
  | "wake"
  | "rearm"
  | "repair"
  | "not-written"
  | "signalled"
  | "session-end"
  | Refusal;

/** A state in which the baton was taken. */
export type ParkedState = Exclude<ParkState, "claim">;

/** Where an event leads: to another state, or to the end. */
export type ParkStep =
  | { readonly to: ParkedState; readonly end?: never }
  | { readonly end: ParkEnd; readonly to?: never };

const REFUSED: Readonly<Record<Refusal, ParkStep>> = {
  "superseded": end("superseded"),
  "session-lost": end("session-lost"),
  "away": end("away"),
  "lock-busy": end("lock-busy"),
  "state-unwritable": end("state-unwritable"),
};

function told(as: ParkEnd): Readonly<Record<Told, ParkStep>> {
  return { "told": end(as), "not-written": end("not-written"), ...REFUSED };
}

/** After an arm, no need forgets the budget; a need that cannot be told is nothing to act on. */
function need(needed: ParkStep): Readonly<Record<Need, ParkStep>> {
  return { "needed": needed, "none": to("reset-idle"), "unknown": end("need-unknown") };
}

/** The table. */
export const PARK_TABLE: {
  readonly [State in ParkState]: Readonly<Record<ParkEvents[State], ParkStep>>;
} = {
  "claim": {
    "claimed": to("bound"),
    "second-delivery": end("second-delivery"),
    "lock-busy": end("lock-busy"),
    "state-unwritable": end("state-unwritable"),
  },
  "bound": {
    "below": to("look-away"),
    "at-ceiling": to("ceiling-need"),
    "past-ceiling": end("past-ceiling"),
  },
  "ceiling-need": {
    "needed": to("tell-ceiling"),
    "none": end("at-ceiling-idle"),
    "unknown": end("at-ceiling-idle"),
  },
  "tell-ceiling": told("ceiling"),
  "look-away": { "here": to("need"), "away": end("away") },
  "need": need(to("session")),
  "session": { "ours": to("arm"), "session-lost": end("session-lost") },
  "arm": {
    "wake": to("need-of-wake"),
    "healthy": to("need-of-healthy"),
    "failed": to("session"),
    "failed-last": to("need-of-repair"),
    "away": end("away"),
    "superseded": end("superseded"),
    "session-lost": end("session-lost"),
    "signalled": end("signalled"),
    "session-end": end("session-end"),
    "time-limit": to("need-of-rearm"),
  },
  "need-of-wake": need(to("tell-wake")),
  "need-of-healthy": need(to("reset-healthy")),
  "need-of-repair": need(to("judge")),
  "need-of-rearm": need(to("tell-rearm")),
  "tell-wake": told("wake"),
  "tell-rearm": told("rearm"),
  "judge": { "allow": end("guard-allows"), "block": to("budget") },
  "budget": {
    "left": to("tell-repair"),
    "spent": end("budget-spent"),
    "superseded": end("superseded"),
  },
  "tell-repair": { ...told("repair"), "budget-moved": end("budget-moved") },
  "reset-idle": { "done": end("no-need"), ...REFUSED },
  "reset-healthy": { "done": end("healthy"), ...REFUSED },
};

function to(state: ParkedState): ParkStep {
  return { to: state };
}

function end(as: ParkEnd): ParkStep {
  return { end: as };
}

/** What a park does in each state; every answer is one of that state's events. */
export type ParkActions = {
  readonly [State in ParkedState]: () => Promise<ParkEvents[State]> | ParkEvents[State];
};

/** Does what `state` says, and tells where that leads. */
export async function advance<State extends ParkedState>(
  state: State,
  actions: ParkActions,
): Promise<ParkStep> {
  const event = await actions[state]();
  return PARK_TABLE[state][event];
}
