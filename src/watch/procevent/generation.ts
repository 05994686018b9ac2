/** The generation behind a claim: whether its runner lives, and how it is ended. */

import { liveness } from "../../platform/liveness.ts";
import { endGroup, groupState } from "../../platform/process_group.ts";
import { systemProcesses } from "../../platform/processes.ts";
import { ownKind } from "../../platform/path_kind.ts";
import { type Claim, readClaim, removeClaim } from "../../state/procevent/claim.ts";
import {
  removeSource,
  runnerPath,
  type SourceId,
  stagingPath,
} from "../../state/procevent/source.ts";
import { removeQuietly } from "../../state/replace_file.ts";
import type { SourceSetup } from "./setup.ts";

/** Who owns a source. */
export type Ownership =
  | { readonly kind: "free" }
  /** The recorded runner lives; it is never displaced. */
  | { readonly kind: "live"; readonly claim: Claim }
  /** Nothing of the generation is left. */
  | { readonly kind: "dead"; readonly claim: Claim }
  /** The runner is gone, but something that it started still runs. */
  | { readonly kind: "orphaned"; readonly claim: Claim }
  /** The claim cannot be read, or it cannot be told who that process is. */
  | { readonly kind: "uncertain"; readonly claim: Claim | undefined };

/** Looks at who owns `id`. Nothing is stolen or ended on a doubt, so each one is `uncertain`. */
export async function ownership(setup: SourceSetup, id: SourceId): Promise<Ownership> {
  const reading = readClaim(setup.claims, id);
  if (reading.kind === "none") return { kind: "free" };
  if (reading.kind === "unreadable") return { kind: "uncertain", claim: undefined };
  const { claim } = reading;
  return { kind: await stateOf(setup, claim), claim };
}

async function stateOf(
  { environment }: SourceSetup,
  claim: Claim,
): Promise<"live" | "dead" | "orphaned" | "uncertain"> {
  switch (liveness(claim.runner)) {
    case "foreign":
    case "unknown":
      return "uncertain";
    case "dead":
      return await ofLeaderless(claim);
    case "alive":
      break;
  }
  // Read afresh: an answer that was kept may belong to an earlier process with this pid.
  const reading = await systemProcesses(environment).identity(claim.runner);
  if (reading.kind === "unknown") return await ofLeaderless(claim);
  if (reading.identity === claim.runnerIdentity) return "live";
  // A pid is given out anew only when no group bears it: nothing of that generation is left.
  return "dead";
}

async function ofLeaderless(claim: Claim): Promise<"dead" | "orphaned" | "uncertain"> {
  switch (await groupState(claim.runner)) {
    case "gone":
      return "dead";
    case "leaderless":
      return "orphaned";
    case "led":
    case "unknown":
      return "uncertain";
  }
}

/** Milliseconds that a generation has to end after it was asked, and after it was killed. */
const STOP_LIMITS = { termMs: 2_000, killMs: 2_000 } as const;

/**
 * Ends everything of a generation that was found live or orphaned; `remains` when something is left.
 *
 * The caller holds the source's lock. Who the runner is is asked again right before the first signal.
 */
export async function stopGeneration(
  setup: SourceSetup,
  id: SourceId,
  token: string,
): Promise<"gone" | "remains"> {
  const now = await ownership(setup, id);
  if (now.kind === "free" || now.kind === "dead") return "gone";
  if (now.kind === "uncertain" || now.claim.token !== token) return "remains";
  return await endGroup(now.claim.runner, STOP_LIMITS);
}

/**
 * Removes what a generation left behind: staging file, runner file, claim. A retirement that it had
 * begun is finished first. The caller holds the source's lock and knows that the generation is gone.
 */
export function clearGeneration(setup: SourceSetup, id: SourceId, claim: Claim): void {
  const folder = claim.folder === "" && claim.home === setup.home.home
    ? setup.folder
    : claim.folder;
  // The claim names a folder; it is touched only if it is one of registrations.
  if (folder.endsWith("/procevent") && ownKind(folder) === "directory") {
    removeQuietly(stagingPath(folder, id, claim.token));
    removeQuietly(runnerPath(folder, id));
    if (claim.phase === "terminal" && claim.registration !== "") {
      removeSource(folder.slice(0, -"/procevent".length), id, claim.registration);
    }
  }
  removeClaim(setup.claims, id);
}
