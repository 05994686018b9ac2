/** Reasons not to count idle time. */

import type { ActivityState, Wait } from "../activity/activity_state.ts";
import type { EntryAges, InFlight } from "./entry_ages.ts";
import type { HoldName } from "./watchdog_options.ts";

/** One reason that is in force. */
export interface Hold {
  readonly name: HoldName;
  readonly detail: string;
  /** Seconds until it ends by itself. */
  readonly endsIn: number;
}

/** What holds are judged by. */
export interface HoldFacts {
  /** `undefined` when the session's file cannot be read or trusted. */
  readonly state: ActivityState | undefined;
  readonly ages: EntryAges;
  /** Whether a session that waits for its person is held. */
  readonly holdsForPerson: boolean;
  /** Whether the session is a parked primary under a live watcher. */
  readonly supervised: boolean;
}

/** Types of background tasks that are no subagents and run for long. */
const SHELLS = ["shell", "monitor", "MCP task"];

/** The reasons among `names` that there are, before their own bounds. */
export function judgeHolds(facts: HoldFacts, names: readonly HoldName[]): readonly Hold[] {
  const found: Hold[] = [];
  const add = (name: HoldName, detail: string, endsIn = Infinity): void => {
    if (names.includes(name)) found.push({ name, detail, endsIn });
  };
  const { state, ages } = facts;
  if (state !== undefined && state.ended_at === null) {
    const agents = ages.subagents(state);
    if (agents.count > 0) add("subagents", `${agents.count} in flight`, agents.endsIn);
    const tools = runningTools(state, ages);
    if (tools.count > 0) add("tools", `${tools.count} running`, tools.endsIn);
    const wait = personWait(state);
    if (wait !== undefined && facts.holdsForPerson) add("human", wait.kind);
    if (state.turn === "ended" && state.crons_pending > 0) {
      add("crons", `${state.crons_pending} scheduled`);
    }
    const shells = SHELLS.reduce((sum, type) => sum + (state.background.get(type) ?? 0), 0);
    if (state.turn === "ended" && shells > 0) add("shells", `${shells} in the background`);
  }
  if (facts.supervised) add("supervised", "parked under a live watcher");
  return found;
}

/** Calls that run; one that waits for a person's word does not. */
export function runningTools(state: ActivityState, ages: EntryAges): InFlight {
  return ages.tools(state, (ctx) => {
    const kind = state.waiting.get(ctx)?.kind;
    return kind === "permission" || kind === "input";
  });
}

/** The most urgent wait of a session. */
export function personWait(state: ActivityState): Wait | undefined {
  const waits = [...state.waiting.values()];
  return waits.find(({ kind }) => kind === "permission") ??
    waits.find(({ kind }) => kind === "input") ?? waits[0];
}

/** Whether the turn has ended and nothing that could start another one is pending. */
export function isAfterStop(state: ActivityState, ages: EntryAges): boolean {
  return state.turn === "ended" && ages.subagents(state).count === 0 &&
    runningTools(state, ages).count === 0 && state.crons_pending === 0;
}
