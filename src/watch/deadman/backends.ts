/** Every scheduler, in the order in which a host is asked for them. */

import { isAbsolute } from "@std/path";
import type { Environment } from "../../platform/environment.ts";
import { targetKind } from "../../platform/path_kind.ts";
import type { Backend } from "./backend.ts";
import { cronBackend } from "./cron.ts";
import { launchdBackend } from "./launchd.ts";
import { ownerOf, type Programs } from "./programs.ts";
import { systemdBackend } from "./systemd.ts";

/** Makes the schedulers of a user whose folder is `homeFolder`. */
export function schedulers(
  environment: Environment,
  homeFolder: string,
  programs: Programs,
): readonly Backend[] {
  const configured = environment.get("XDG_CONFIG_HOME");
  const configFolder = configured !== undefined && isAbsolute(configured)
    ? configured
    : `${homeFolder}/.config`;
  const user = environment.get("USER");
  return [
    systemdBackend(programs, {
      folder: `${configFolder}/systemd/user`,
      lingers: () =>
        user !== undefined && targetKind(`/var/lib/systemd/linger/${user}`) !== "absent",
    }),
    launchdBackend(programs, {
      folder: `${homeFolder}/Library/LaunchAgents`,
      system: Deno.build.os,
      userId: ownerOf(homeFolder),
    }),
    cronBackend(programs),
    OPERATORS_OWN,
  ];
}

/** A scheduler that turnguard does not know: the operator runs the command that is shown. */
const OPERATORS_OWN: Backend = {
  name: "none",
  unavailable: () => Promise.resolve(undefined),
  preview: () => [],
  add: () => Promise.resolve({ kind: "done", report: [] }),
  remove: () => Promise.resolve({ kind: "unchanged", report: [] }),
  look: () => Promise.resolve({ kind: "unknown", because: "it is not turnguard's to see" }),
};
