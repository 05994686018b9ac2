/** One event of a session, in the form that every harness's payload is brought to. */

import type { AgentKind, HarnessProcess, LaunchMode } from "./activity_state.ts";

/** Every event that has an effect of its own; everything else is `Other`. */
export const EVENT_NAMES = [
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "PostToolUse",
  "PostToolUseFailure",
  "PostToolBatch",
  "PermissionRequest",
  "PermissionDenied",
  "SubagentStart",
  "SubagentStop",
  "Stop",
  "StopFailure",
  "PreCompact",
  "PostCompact",
  "TaskCreated",
  "TaskCompleted",
  "MessageDisplay",
  "Notification",
  "TeammateIdle",
  "SessionEnd",
  "Touch",
  "Other",
] as const;

/** The name of an event. */
export type EventName = typeof EVENT_NAMES[number];

/** Events that prove no work: the first would otherwise keep an idle session alive. */
const NO_PROGRESS: readonly EventName[] = ["Notification", "TeammateIdle", "SessionEnd", "Other"];

/** Whether an event proves that somebody works. */
export function isProgress(name: EventName): boolean {
  return !NO_PROGRESS.includes(name);
}

/** What became of a launching call. */
export type LaunchOutcome =
  | { readonly kind: "finished" | "background"; readonly agent?: string }
  | { readonly kind: "unknown" };

/** A launching call. */
export interface LaunchCall {
  readonly kind: AgentKind;
  readonly mode: LaunchMode;
  /** Type of the subagent that was asked for. */
  readonly type: string;
  /** After the call: what came of it. */
  readonly outcome?: LaunchOutcome;
}

/** A live task in the harness's own list. */
export interface ReportedTask {
  readonly key: string;
  /** What the harness calls this kind of task. */
  readonly type: string;
  readonly agentType: string;
}

/** What a harness says about the tasks that it still has. */
export interface TaskReport {
  /** Tasks that are no longer running are left out. */
  readonly live: readonly ReportedTask[];
}

/** An event. Keys are ids in the form that may be stored; times are seconds since the epoch. */
export interface ActivityEvent {
  readonly name: EventName;
  readonly at: number;
  readonly host: string;
  readonly session: string;
  /** Hash of `session` that names its file. */
  readonly sessionKey: string;
  /** The subagent that caused it, or that it is about. */
  readonly agent?: string;
  readonly agentType?: string;
  readonly tool?: string;
  readonly call?: string;
  /** Present when the tool launches subagents. */
  readonly launch?: LaunchCall;
  /** Keys of what a stopping tool was told to stop. */
  readonly stops?: readonly string[];
  /** Whether the tool asks a person. */
  readonly asks?: true;
  readonly source?: string;
  readonly reason?: string;
  readonly notification?: string;
  readonly teammate?: string;
  readonly report?: TaskReport;
  /** Scheduled wake-ups. */
  readonly crons?: number;
  readonly cwd?: string;
  readonly transcript?: string;
  /** The harness's process, where it was looked up. */
  readonly process?: HarnessProcess;
  readonly runId?: string;
  /** Nothing has happened; the event only tells the process. */
  readonly isOnlyProcess?: true;
  /** A session of another harness process inside the run; nothing but this touch is recorded. */
  readonly nested?: string;
}
