/** OpenCode's plugin modules. */

import turnguard from "../../../hooks/common/turnguard.js" with { type: "text" };
import watchBridge from "../../../hooks/common/watch_bridge.js" with { type: "text" };
import guard from "../../../hooks/opencode/turnend_guard.js" with { type: "text" };
import watch from "../../../hooks/opencode/watch_arm.js" with { type: "text" };
import { composeModule } from "./compose.ts";
import type { PluginFile } from "./plugin_file.ts";
import type { PluginRegistration } from "./plugin_registration.ts";

const GUARD = "turnguard:opencode-guard";
const WATCH = "turnguard:opencode-watch";

/** The guard and the watch bridge, for OpenCode 1 and 2. */
export const OPENCODE_PLUGIN_FILES: readonly PluginFile[] = [
  {
    path: ".opencode/plugins/fm-primary-turnend-guard.js",
    token: GUARD,
    text: (executable) =>
      composeModule({ token: GUARD, shared: [turnguard], own: guard }, executable),
  },
  {
    path: ".opencode/plugins/fm-primary-watch-arm.js",
    token: WATCH,
    text: (executable) =>
      composeModule({ token: WATCH, shared: [turnguard, watchBridge], own: watch }, executable),
  },
];

/** What registering with OpenCode means. */
export const OPENCODE_REGISTRATION: PluginRegistration = {
  harness: "opencode",
  files: OPENCODE_PLUGIN_FILES,
  packageFile: {
    path: ".opencode/plugins/package.json",
    text: '{"private": true, "type": "module"}\n',
  },
  trust: "OpenCode loads the modules of a project by itself when it starts there.",
  notForUser: "OpenCode's modules guard the home that they stand in.",
  details: "opencode: two modules in .opencode/plugins, the guard (one follow-up for a turn that " +
    "would end blind) and a watcher that tells its wakes as prompts. They work in OpenCode 1 and 2. " +
    "A headless run may be over before the follow-up runs.",
};
