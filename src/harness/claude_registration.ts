/** What makes Claude Code ask turnguard at the end of each turn, and be woken by it. */

import record from "../../hooks/claude/record.json" with { type: "json" };
import template from "../../hooks/claude/settings.json" with { type: "json" };
import { activityExtras } from "./registration/activity_extras.ts";
import type { Registration } from "./registration/registration.ts";

const FILE = ".claude/settings.json";
const LOCAL_FILE = ".claude/settings.local.json";

/** Settings of a project, the stronger first. */
const SETTINGS = [LOCAL_FILE, FILE];

/** The registration with Claude Code. */
export const CLAUDE_REGISTRATION: Registration = {
  harness: "claude",
  file: FILE,
  user: { kind: "file", variable: "CLAUDE_CONFIG_DIR", folder: ".claude", name: "settings.json" },
  template,
  replaces: {
    "turnguard:claude-stop": ["fm-turnend-guard.sh"],
    "turnguard:claude-autoarm": ["fm-claude-stop-autoarm.sh"],
  },
  extras: [{ when: "always", mode: "record", template: record }, ...activityExtras("claude")],
  localFile: LOCAL_FILE,
  trust:
    "Claude Code runs the hooks once its workspace trust dialog was accepted: start it there. " +
    "Nothing else has to be reviewed, and claude -p does not ask.",
  afterUpdate: [],
  details: `claude: two Stop hooks in ${FILE} in the root, the guard and the auto-arm that wakes ` +
    "the idle session. Claude Code runs them once its workspace trust dialog was accepted; nothing " +
    "else has to be reviewed. disableAllHooks is reported, never changed.",
  obstacle: (read) => {
    for (const file of SETTINGS) {
      const disabled = disablesHooks(read(file));
      if (disabled === undefined) continue;
      return disabled
        ? `${file} has "disableAllHooks": true. As long as it does, Claude Code runs no hook there.`
        : undefined;
    }
    return undefined;
  },
};

/** What settings say about hooks altogether; `undefined` when they do not say it. */
function disablesHooks(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  try {
    const settings: unknown = JSON.parse(text);
    if (typeof settings !== "object" || settings === null) return undefined;
    const value: unknown = Object.entries(settings)
      .find(([name]) => name === "disableAllHooks")?.[1];
    return typeof value === "boolean" ? value : undefined;
  } catch {
    return undefined;
  }
}
