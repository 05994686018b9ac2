/** How each harness is guarded. */

import type { Topic } from "./topic.ts";

/** The topic. */
export const HARNESSES: Topic = {
  name: "harnesses",
  summary: "How each harness is guarded, where, and what trust it asks for.",
  blocks: [
    "turnguard install NAME registers with one of them, turnguard install all with every one that " +
    "is in use here; --dry-run shows the exact change, turnguard uninstall NAME takes it back byte for byte, and " +
    "turnguard doctor tells whether a hook has really fired.",
    {
      heading: "By the file that is registered in, below the home:",
      rows: [
        ["claude", ".claude/settings.json: two Stop hooks that cooperate (stop, autoarm)"],
        ["codex", ".codex/hooks.json: a Stop hook; trust the project, then the hook (/hooks)"],
        ["cursor", ".cursor/hooks.json: a stop hook that parks (park); trust the workspace"],
        ["grok", ".grok/hooks/: a Stop hook (stop --grok); trust the folder"],
        ["kimi", "config.toml of Kimi: a marked region with one hook (kimi install)"],
        ["opencode", ".opencode/plugins/: a guard and a watch module, for 1 and 2"],
        ["pi", ".pi/extensions/: a guard and a watch extension"],
        ["pi-signed", "the files of pi"],
        ["omp", ".omp/extensions/: a guard and a watch extension"],
      ],
    },
    "A harness runs its hooks with another working directory now and then, or a deleted one; a " +
    "registered command therefore starts with cd / and names the home as an argument. It holds " +
    "no version: an upgrade in place keeps the trust that was given to it.",
    "A harness that loads another one's hook file runs a hook twice. The guard knows the host by " +
    "its payload and stands down in the wrong one; one event that is delivered twice is judged " +
    "once.",
  ],
};
