/** Every scheduler, in the order in which a host is asked for them. */

import { isAbsolute } from "@std/path";
import type { Environment } from "../../platform/environment.ts";
import { targetKind } from "../../platform/path_kind.ts";
import type { Backend, Job } from "./backend.ts";
import { cronBackend } from "./cron.ts";
import { launchdBackend } from "./launchd.ts";
import { ownerOf, type Programs } from "./programs.ts";
import type { BackendName } from "./record.ts";
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

/** The scheduler to use. Where none can be, why not, and the one that was asked for by name. */
export type Choice =
  | { readonly kind: "chosen"; readonly backend: Backend }
  | {
    readonly kind: "none";
    readonly reasons: readonly string[];
    readonly backend: Backend | undefined;
  };

/**
 * The scheduler `name`, else the first that the host has. The operator's own is never guessed: it
 * would look installed and take no sample.
 */
export async function chooseScheduler(
  backends: readonly Backend[],
  job: Job,
  name: BackendName | undefined,
): Promise<Choice> {
  const candidates = backends.filter((backend) =>
    name === undefined ? backend.name !== "none" : backend.name === name
  );
  const reasons: string[] = [];
  for (const backend of candidates) {
    const because = await backend.unavailable(job);
    if (because === undefined) return { kind: "chosen", backend };
    reasons.push(`${backend.name}: ${because}`);
  }
  return { kind: "none", reasons, backend: name === undefined ? undefined : candidates[0] };
}
