/** The entries by which a harness tells what its sessions do, for `--activity` and `--all-hooks`. */

import { ACTIVITY_EVENTS, type ActivityHarness } from "../activity_events.ts";
import type { ExtraHooks } from "./extra_hooks.ts";
import type { HookShape } from "./hook_survey.ts";
import type { EntryTemplate } from "./hook_template.ts";

/** The token of every such entry. */
const TOKEN = "turnguard:activity";

/** Seconds; the recorder needs a fraction of one, and a session must not wait for it. */
const TIMEOUT = 5;

/**
 * Grok reads the files of these harnesses as well, and tells of its sessions by entries of its own. The
 * shell that Codex starts may be one that does not understand the test; Grok does not read its file.
 */
const NOT_IN_GROK: Readonly<Partial<Record<ActivityHarness, string>>> = {
  claude: '[ -z "${GROK_AGENT:-}${GROK_HOOK_EVENT:-}" ] || exit 0; ',
  cursor: '[ -z "${GROK_AGENT:-}${GROK_HOOK_EVENT:-}" ] || exit 0; ',
};

/** Events that are about one tool, where Claude Code wants the tools to be named. */
const TOOL_EVENTS: readonly string[] = ["PreToolUse", "PostToolUse", "PostToolUseFailure"];

/** A parked stop hook must have that event for itself, and compaction must not wait for a hook. */
const NOT_REGISTERED: Readonly<Partial<Record<ActivityHarness, readonly string[]>>> = {
  cursor: ["stop", "preCompact"],
};

/** Events that tell of progress and of nothing that an idle session could be taken for. */
const FURTHER_EVENTS: Readonly<Partial<Record<ActivityHarness, readonly string[]>>> = {
  claude: ["TaskCreated", "TaskCompleted"],
  cursor: ["afterAgentResponse", "afterAgentThought"],
};

/**
 * One group for each event. The command is the same for all, since the event is in the payload; it names
 * its host, so that a payload of another one which reads this file is not recorded twice.
 */
export function activityExtras(
  harness: ActivityHarness,
  shape: HookShape = "groups",
): readonly ExtraHooks[] {
  const entry: EntryTemplate = {
    type: "command",
    command: `: ${TOKEN}; ${
      NOT_IN_GROK[harness] ?? ""
    }cd / && exec {TG} activity --host ${harness}`,
    timeout: TIMEOUT,
  };
  const extras = (when: ExtraHooks["when"], events: readonly string[]): ExtraHooks => ({
    when,
    mode: "activity",
    template: {
      hooks: Object.fromEntries(
        events.filter((event) => NOT_REGISTERED[harness]?.includes(event) !== true)
          .map((event) => {
            const isAboutTools = harness === "claude" && TOOL_EVENTS.includes(event);
            const group = { ...(isAboutTools ? { matcher: "" } : {}), hooks: [entry] };
            return [event, [shape === "flat" ? entry : group]];
          }),
      ),
    },
  });
  return [
    extras("activity", ACTIVITY_EVENTS[harness]),
    extras("all", FURTHER_EVENTS[harness] ?? []),
  ];
}
