/** Every harness that `install` registers with by a module in its plugin folder. */

import type { PluginRegistration } from "./plugin_registration.ts";

/** In the order in which they are named to people. */
export const PLUGIN_REGISTRATIONS: readonly PluginRegistration[] = [];
