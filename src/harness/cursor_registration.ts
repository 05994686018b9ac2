/** What makes Cursor wait at the end of each turn, until there is something to do. */

import template from "../../hooks/cursor/hooks.json" with { type: "json" };
import { activityExtras } from "./registration/activity_extras.ts";
import type { Registration } from "./registration/registration.ts";

const FILE = ".cursor/hooks.json";

/** The registration with Cursor. */
export const CURSOR_REGISTRATION: Registration = {
  harness: "cursor",
  file: FILE,
  user: { kind: "file", folder: ".cursor", name: "hooks.json" },
  shape: "flat",
  initial: '{\n  "version": 1\n}\n',
  template,
  replaces: { "turnguard:cursor-stop": ["fm-turnend-guard-cursor.sh", "fm-turnend-guard.sh"] },
  extras: activityExtras("cursor", "flat"),
  trust:
    "Cursor runs the hook in a trusted workspace only: open the folder in Cursor and trust it, " +
    "or start cursor-agent --trust there. cursor-agent -p runs no stop hook at all.",
  afterUpdate: [],
  details:
    `cursor: a stop hook in ${FILE} in the root, which parks: it waits in the place of the ` +
    "idle session and wakes it with a message. Cursor loads it in a trusted workspace only.",
};
