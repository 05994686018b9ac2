/** What every operation on process-event sources works with. */

import type { Home } from "../../observe/home.ts";
import type { Environment } from "../../platform/environment.ts";
import type { HeldLock } from "../../state/lock.ts";
import { claimRoot, lockSource, makeClaimRoot } from "../../state/procevent/claim.ts";
import { sourceFolder, type SourceId } from "../../state/procevent/source.ts";
import { type QueuePaths, queuePaths } from "../../state/wake_queue.ts";

/** A home and the claims of its user. */
export interface SourceSetup {
  readonly home: Home;
  readonly environment: Environment;
  readonly paths: QueuePaths;
  /** Folder of the registrations. */
  readonly folder: string;
  /** Folder of the claims; it exists, unless somebody only looks. */
  readonly claims: string;
}

/** A failure of an operation on a source, with the reason as its message. */
export class SourceError extends Error {
  override readonly name = "SourceError";
}

/** The set-up of a home. Throws a {@link SourceError} when there can be no claims. */
export function sourceSetup(home: Home, environment: Environment): SourceSetup {
  const claims = claimRoot(environment);
  if (claims === undefined) {
    throw new SourceError("no claim root: set HOME or FM_PROCEVENT_CLAIM_ROOT");
  }
  try {
    makeClaimRoot(claims);
  } catch (error) {
    throw new SourceError(error instanceof Error ? error.message : String(error));
  }
  return withClaims(home, environment, claims);
}

/** The set-up for whoever only looks: nothing is made. `undefined` when there can be no claims. */
export function sourceView(home: Home, environment: Environment): SourceSetup | undefined {
  const claims = claimRoot(environment);
  return claims === undefined ? undefined : withClaims(home, environment, claims);
}

function withClaims(home: Home, environment: Environment, claims: string): SourceSetup {
  const paths = queuePaths(home.state, environment);
  return { home, environment, paths, folder: sourceFolder(home.state), claims };
}

/** Milliseconds that an operation waits for the lock of one source. */
export const LOCK_LIMIT_MS = 10_000;

/**
 * Takes the lock that guards every change of a source. Throws a {@link SourceError} when its holder
 * does not let go.
 */
export async function heldSource(
  { claims }: SourceSetup,
  id: SourceId,
  limitMs = LOCK_LIMIT_MS,
): Promise<HeldLock> {
  const attempt = await lockSource(claims, id, limitMs);
  if (attempt.kind === "acquired") return attempt.lock;
  const holder = attempt.holder === undefined ? "" : ` (held by pid ${attempt.holder})`;
  throw new SourceError(`the lock of ${id} is not free${holder}`);
}
