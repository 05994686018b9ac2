/** Tools that mean more than a call. */

const LAUNCHERS = ["Agent", "Task", "task", "spawn_subagent", "Workflow"];
const ASKERS = [
  "AskUserQuestion",
  "ExitPlanMode",
  "request_user_input",
  "ask_user_question",
  "question",
];
const STOPPERS = ["TaskStop", "KillShell", "KillBash"];

/** Whether a tool launches subagents; `added` are names that the operator knows of. */
export function isLaunchTool(tool: string, added: readonly string[]): boolean {
  if (/^(?:mcp__|MCP:)/.test(tool)) return false;
  return LAUNCHERS.includes(tool) || tool.endsWith("spawn_agent") || added.includes(tool);
}

/** Whether a tool waits for a person. */
export function isAskingTool(tool: string): boolean {
  return ASKERS.includes(tool);
}

/** Whether a tool ends a subagent that its input names. */
export function isStoppingTool(tool: string): boolean {
  return STOPPERS.includes(tool) || tool.endsWith("interrupt_agent") ||
    tool.endsWith("close_agent");
}
