/** What makes Grok ask turnguard at the end of each turn. */

import template from "../../hooks/grok/hooks.json" with { type: "json" };
import { activityExtras } from "./registration/activity_extras.ts";
import type { Registration } from "./registration/registration.ts";

const FILE = ".grok/hooks/fm-primary-turnend-guard.json";

/** The registration with Grok. */
export const GROK_REGISTRATION: Registration = {
  harness: "grok",
  file: FILE,
  user: {
    kind: "none",
    because: "Grok trusts the hooks in its user's folder without asking, so none is put there.",
  },
  isOwnFile: true,
  template,
  replaces: { "turnguard:grok-stop": ["fm-turnend-guard-grok.sh", "fm-turnend-guard.sh"] },
  extras: activityExtras("grok"),
  trust: "Grok runs the hook in a trusted folder only, and says nothing about one that it passes " +
    "over: start it there and enter /hooks-trust, or start it with --trust.",
  afterUpdate: [],
  details:
    `grok: a Stop hook in a file of its own, ${FILE} in the root. Grok runs it in a trusted ` +
    "folder only: /hooks-trust.",
};
