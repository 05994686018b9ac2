/** The entries by which a harness tells what a session does. */

import type { HookShape } from "./hook_survey.ts";
import type { HookTemplate } from "./hook_template.ts";

/** One event. */
export interface ActivityEvent {
  readonly event: string;
  /** What the group is limited to, where the harness wants it said. */
  readonly matcher?: string;
}

/** The token of every such entry. */
export const ACTIVITY_TOKEN = "turnguard:activity";

/** Seconds; the recorder needs a fraction of one, and a session must not wait for it. */
const TIMEOUT = 5;

/** Files of other harnesses are read by Grok as well, whose own entries tell of its sessions. */
const NOT_IN_GROK = '[ -z "${GROK_AGENT:-}${GROK_HOOK_EVENT:-}" ] || exit 0; ';

/**
 * One entry for each event. The command is the same for all, since the event is in the payload; it names
 * its host, so that a payload of another one which reads this file is not recorded twice.
 */
export function activityTemplate(
  host: string,
  events: readonly ActivityEvent[],
  shape: HookShape = "groups",
): HookTemplate {
  const test = host === "grok" ? "" : NOT_IN_GROK;
  const entry = {
    type: "command",
    command: `: ${ACTIVITY_TOKEN}; ${test}cd / && exec {TG} activity --host ${host}`,
    timeout: TIMEOUT,
  };
  const groups = events.map(({ event, matcher }) => {
    const group = { ...(matcher === undefined ? {} : { matcher }), hooks: [entry] };
    return [event, [shape === "flat" ? entry : group]] as const;
  });
  return { hooks: Object.fromEntries(groups) };
}
