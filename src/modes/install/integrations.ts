/** Every harness that can be registered with, however it is done. */

import { PLUGIN_REGISTRATIONS } from "../../harness/plugins/table.ts";
import { REGISTRATIONS } from "../../harness/registration/table.ts";
import type { Plan } from "./plan.ts";
import { hasActivity, planHooks } from "./plan_hooks.ts";
import { planKimi, planKimiRemoval } from "./plan_kimi.ts";
import { planPluginRemoval } from "./plan_plugin_removal.ts";
import { planPlugins } from "./plan_plugins.ts";
import { planRemoval } from "./plan_removal.ts";
import type { InstallRequest, Request } from "./request.ts";

/** One harness. */
export interface Integration {
  /** The word that names it on a command line. */
  readonly harness: string;
  /** What `help install` says about it. */
  readonly details: string;
  /** Whether there is a file for every project of a user. */
  readonly hasUserPlace: boolean;
  /** Whether its sessions can be recorded outside of a home. */
  readonly hasActivity: boolean;
  readonly plan: (request: InstallRequest) => Promise<Plan>;
  readonly planRemoval: (request: Request) => Promise<Plan>;
}

/** In the order in which they are named and done. */
export const INTEGRATIONS: readonly Integration[] = [
  ...REGISTRATIONS.map((registration): Integration => ({
    harness: registration.harness,
    details: registration.details,
    hasUserPlace: registration.user?.kind === "file",
    hasActivity: hasActivity(registration),
    plan: (request) => planHooks(registration, request),
    planRemoval: (request) => planRemoval(registration, request),
  })),
  ...PLUGIN_REGISTRATIONS.map((registration): Integration => ({
    harness: registration.harness,
    details: registration.details,
    hasUserPlace: false,
    hasActivity: false,
    plan: (request) => Promise.resolve(planPlugins(registration, request)),
    planRemoval: (request) => planPluginRemoval(registration, request),
  })),
  {
    harness: "kimi",
    details:
      "kimi: a marked region with a Stop hook in ~/.kimi-code/config.toml, and the script that " +
      "it starts. It is the user's, with or without --user, and only for workers: Kimi is no harness " +
      "of a home's own session.",
    hasUserPlace: true,
    hasActivity: false,
    plan: (request) => Promise.resolve(planKimi(request)),
    planRemoval: planKimiRemoval,
  },
];
