/** omp's extensions. */

import marker from "../../../hooks/common/loaded_marker.js" with { type: "text" };
import turnguard from "../../../hooks/common/turnguard.js" with { type: "text" };
import watchBridge from "../../../hooks/common/watch_bridge.js" with { type: "text" };
import guard from "../../../hooks/omp/turnend_guard.js" with { type: "text" };
import watch from "../../../hooks/omp/watch.js" with { type: "text" };
import { composeModule } from "./compose.ts";
import type { PluginFile } from "./plugin_file.ts";
import type { PluginRegistration } from "./plugin_registration.ts";

const GUARD = "turnguard:omp-guard";
const WATCH = "turnguard:omp-watch";

/** The guard and the watch bridge. */
export const OMP_PLUGIN_FILES: readonly PluginFile[] = [
  {
    path: ".omp/extensions/fm-primary-turnend-guard.ts",
    token: GUARD,
    text: (executable) =>
      composeModule({ token: GUARD, shared: [turnguard, marker], own: guard }, executable),
  },
  {
    path: ".omp/extensions/fm-primary-omp-watch.ts",
    token: WATCH,
    text: (executable) =>
      composeModule(
        { token: WATCH, shared: [turnguard, marker, watchBridge], own: watch },
        executable,
      ),
  },
];

/** What registering with omp means. */
export const OMP_REGISTRATION: PluginRegistration = {
  harness: "omp",
  files: OMP_PLUGIN_FILES,
  trust: "omp loads the extensions of a project by itself; do not name them with -e as well.",
  notForUser: "omp's extensions guard the home that they stand in.",
  details: "omp: two extensions in .omp/extensions, the guard (a session that would settle blind " +
    "goes on once) and a watcher that tells its wakes as prompts.",
};
