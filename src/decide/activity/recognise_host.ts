/** Which harness a payload comes from. */

import { type Fields, textOf } from "./fields.ts";

/** The harnesses that activity is recorded for. */
export const ACTIVITY_HOSTS = [
  "claude",
  "codex",
  "cursor",
  "grok",
  "kimi",
  "opencode",
  "pi",
  "omp",
  "other",
] as const;

/** A harness, or `other`. */
export type ActivityHost = typeof ACTIVITY_HOSTS[number];

/**
 * The host of a payload; `undefined` when it belongs to another one than `named`.
 *
 * Some harnesses also run the hooks that were registered for another; those events come by their own
 * registration as well and must not count twice. Only certain signs make the hook stand down.
 *
 * @param named The host that the registration names, or `auto`.
 * @param hasGrokEvent Whether the hook's environment has Grok's own variable.
 */
export function recogniseHost(
  payload: Fields,
  named: ActivityHost | "auto",
  hasGrokEvent: boolean,
): ActivityHost | undefined {
  const certain = certainHost(payload, hasGrokEvent);
  if (named !== "auto") return certain === undefined || certain === named ? named : undefined;
  return certain ?? likelyHost(payload);
}

function certainHost(payload: Fields, hasGrokEvent: boolean): ActivityHost | undefined {
  if (typeof payload["cursor_version"] === "string") return "cursor";
  const hasSession = textOf(payload["session_id"]) !== undefined;
  if (payload["hookEventName"] !== undefined) return "grok";
  if (!hasSession && (textOf(payload["sessionId"]) !== undefined || hasGrokEvent)) return "grok";
  const own = ACTIVITY_HOSTS.find((host) => host === payload["turnguard_host"]);
  if (own !== undefined) return own;
  const transcript = textOf(payload["transcript_path"]);
  return transcript?.includes("/.pi/") === true ? "pi" : undefined;
}

function likelyHost(payload: Fields): ActivityHost {
  if (textOf(payload["session_id"]) === undefined) return "other";
  const event = textOf(payload["hook_event_name"]) ?? "";
  if (typeof payload["turn_id"] === "string" && event !== "MessageDisplay") return "codex";
  const isOfAgent = /^subagent/i.test(event) && typeof payload["agent_name"] === "string";
  const isOfTool = /tool/i.test(event) && typeof payload["tool_call_id"] === "string";
  return isOfAgent || isOfTool ? "kimi" : "claude";
}
