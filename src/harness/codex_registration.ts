/** What makes Codex ask turnguard at the end of each turn. */

import template from "../../hooks/codex/hooks.json" with { type: "json" };
import { activityExtras } from "./registration/activity_extras.ts";
import type { Registration } from "./registration/registration.ts";

const FILE = ".codex/hooks.json";

/** The registration with Codex. */
export const CODEX_REGISTRATION: Registration = {
  harness: "codex",
  file: FILE,
  user: {
    kind: "none",
    because: "The hook of Codex is tied to the home whose own .codex/hooks.json holds it.",
  },
  template,
  replaces: { "turnguard:codex-stop": ["fm-turnend-guard.sh"] },
  extras: activityExtras("codex"),
  trust: "Codex runs the hook once it trusts the project and the hook was reviewed: start Codex " +
    "there, trust the folder, open /hooks. Scripted runs: codex exec --trust, and " +
    "--dangerously-bypass-hook-trust.",
  afterUpdate: [
    "Its command has changed, so Codex does not trust it any more: it has to be reviewed again.",
  ],
  obstacle: (read) =>
    /^[ \t]*\[\[?[ \t]*hooks[ \t]*[.\]]/m.test(read(".codex/config.toml") ?? "")
      ? ".codex/config.toml has hooks as well. Codex runs those of both files and warns about it."
      : undefined,
  details:
    `codex: a Stop hook in ${FILE} in the root. Codex runs a hook only in a project that it ` +
    "trusts, and only after the hook was reviewed: start Codex in the root, trust the folder, open " +
    "/hooks.",
};
