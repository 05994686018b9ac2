/** Pi's extensions; pi-signed loads the same. */

import marker from "../../../hooks/common/loaded_marker.js" with { type: "text" };
import turnguard from "../../../hooks/common/turnguard.js" with { type: "text" };
import watchBridge from "../../../hooks/common/watch_bridge.js" with { type: "text" };
import guard from "../../../hooks/pi/turnend_guard.js" with { type: "text" };
import watch from "../../../hooks/pi/watch.js" with { type: "text" };
import { composeModule } from "./compose.ts";
import type { PluginFile } from "./plugin_file.ts";
import type { PluginRegistration } from "./plugin_registration.ts";

const GUARD = "turnguard:pi-guard";
const WATCH = "turnguard:pi-watch";

/** The guard and the watch bridge. */
export const PI_PLUGIN_FILES: readonly PluginFile[] = [
  {
    path: ".pi/extensions/fm-primary-turnend-guard.ts",
    token: GUARD,
    text: (executable) =>
      composeModule({ token: GUARD, shared: [turnguard, marker], own: guard }, executable),
  },
  {
    path: ".pi/extensions/fm-primary-pi-watch.ts",
    token: WATCH,
    text: (executable) =>
      composeModule(
        { token: WATCH, shared: [turnguard, marker, watchBridge], own: watch },
        executable,
      ),
  },
];

/** What registering with Pi means. */
export const PI_REGISTRATION: PluginRegistration = {
  harness: "pi",
  files: PI_PLUGIN_FILES,
  trust: "Pi loads the extensions once the project is trusted: start pi there and say so.",
  notForUser: "Pi's extensions guard the home that they stand in.",
  details:
    "pi: two extensions in .pi/extensions, the guard (one follow-up for a run that would end " +
    "blind) and a watcher that tells its wakes as prompts. pi-signed loads the same files.",
};
