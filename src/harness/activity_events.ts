/** The events that a harness must register so that its sessions' activity is recorded. */

/** Harnesses whose hook files can register the activity hook. */
export type ActivityHarness = "claude" | "codex" | "cursor" | "grok";

/** Event names as each harness spells them, in the order in which they are registered. */
export const ACTIVITY_EVENTS: Readonly<Record<ActivityHarness, readonly string[]>> = {
  claude: [
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "StopFailure",
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PermissionRequest",
    "PermissionDenied",
    "Notification",
    "PreCompact",
    "PostCompact",
    "TeammateIdle",
  ],
  codex: [
    "PreToolUse",
    "PostToolUse",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "SessionStart",
    "UserPromptSubmit",
    "PermissionRequest",
    "PreCompact",
    "PostCompact",
  ],
  cursor: [
    "preToolUse",
    "postToolUse",
    "postToolUseFailure",
    "subagentStart",
    "subagentStop",
    "stop",
    "sessionStart",
    "sessionEnd",
    "beforeSubmitPrompt",
    "preCompact",
  ],
  grok: [
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "Notification",
  ],
};

/** Events during which the harness need not wait: their order does not matter. */
export const ACTIVITY_ASYNC_EVENTS: readonly string[] = [
  "Notification",
  "PreCompact",
  "PostCompact",
];
