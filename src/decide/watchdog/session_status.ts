/** What a session does, in a word. */

import type { ActivityState } from "../activity/activity_state.ts";
import { inFlight } from "../activity/session_sets.ts";

/** What the word is made of. */
export interface SessionFacts {
  readonly state: ActivityState;
  /** Seconds since the epoch. */
  readonly now: number;
  readonly life: "running" | "gone" | "remote" | "unknown";
  /** Whether a watchdog that watched it is no longer there. */
  readonly lostWatchdog: boolean;
}

/** What a session does. */
export interface SessionStatus {
  /** As a list shows it. */
  readonly word: string;
  /** Whether it works or has a reason to wait. */
  readonly kind: "busy" | "idle" | "over";
  /** Subagents that count; of a harness that is gone, none. */
  readonly agents: number;
  /** Subagents that went with their harness. */
  readonly lost: number;
}

/** Seconds for which progress makes a session a working one. */
const WORKING_SECONDS = 60;

/** Says what a session does. The first that applies. */
export function sessionStatus(facts: SessionFacts): SessionStatus {
  const { state, now, life, lostWatchdog } = facts;
  const agents = inFlight(state);
  const suffix = lostWatchdog ? " unsupervised" : "";
  if (state.ended_at !== null) return { word: `ended${suffix}`, kind: "over", agents: 0, lost: 0 };
  if (life === "gone") return { word: `dead${suffix}`, kind: "over", agents: 0, lost: agents };
  const { word, kind } = life === "remote"
    ? { word: "remote", kind: "busy" as const }
    : living(state, agents, now);
  return { word: `${word}${suffix}`, kind, agents, lost: 0 };
}

function living(
  state: ActivityState,
  agents: number,
  now: number,
): Pick<SessionStatus, "word" | "kind"> {
  const age = now - (state.progress_at ?? state.started_at ?? now);
  if (agents > 0) return { word: `waiting:agents(${agents})`, kind: "busy" };
  const waits = [...state.waiting.values()];
  if (waits.length > 0) return { word: "waiting:human", kind: "busy" };
  if (state.turn === "ended" && state.crons_pending > 0) {
    return { word: "waiting:wake", kind: "busy" };
  }
  const [tool] = state.tools.values();
  if (tool !== undefined) return { word: `tool(${tool.tool})`, kind: "busy" };
  if (age <= WORKING_SECONDS) return { word: "working", kind: "busy" };
  return { word: `idle ${ageText(age)}`, kind: "idle" };
}

/** An age as a list shows it. */
export function ageText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 120) return `${whole}s`;
  if (whole < 7_200) return `${Math.floor(whole / 60)}m`;
  return whole < 172_800 ? `${Math.floor(whole / 3_600)}h` : `${Math.floor(whole / 86_400)}d`;
}
