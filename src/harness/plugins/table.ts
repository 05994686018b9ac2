/** Every harness that `install` registers with by a module in its plugin folder. */

import { OMP_REGISTRATION } from "./omp.ts";
import { OPENCODE_REGISTRATION } from "./opencode.ts";
import { PI_REGISTRATION } from "./pi.ts";
import type { PluginRegistration } from "./plugin_registration.ts";

/** In the order in which they are named to people. */
export const PLUGIN_REGISTRATIONS: readonly PluginRegistration[] = [
  OPENCODE_REGISTRATION,
  PI_REGISTRATION,
  OMP_REGISTRATION,
];
