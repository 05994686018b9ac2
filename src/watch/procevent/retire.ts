/** Ending sources for good: the registration goes first, then the runner, then the claim. */

import { listClaims } from "../../state/procevent/claim.ts";
import {
  listSources,
  readSource,
  type SourceId,
  sourcePath,
} from "../../state/procevent/source.ts";
import { removeQuietly } from "../../state/replace_file.ts";
import { closeTroubles } from "./episode.ts";
import { clearGeneration, ownership, stopGeneration } from "./generation.ts";
import { heldSource, SourceError, type SourceSetup } from "./setup.ts";

/**
 * Retires a source; `false` when there was nothing to retire.
 *
 * The runner of another home is left alone. Throws a {@link SourceError} when a runner of this home
 * cannot be ended or cannot be told; the registration is gone by then, so that none is started again.
 */
export async function retireSource(setup: SourceSetup, id: SourceId): Promise<boolean> {
  using _held = await heldSource(setup, id);
  const registered = readSource(setup.home.state, id).kind !== "absent";
  const owner = await ownership(setup, id);
  const mine = owner.kind !== "free" && owner.claim?.home === setup.home.home;
  if (!registered && !mine) return false;
  removeQuietly(sourcePath(setup.home.state, id));
  closeTroubles(setup, id);
  if (owner.kind === "free" || !mine || owner.claim === undefined) return true;
  if (await stopGeneration(setup, id, owner.claim.token) === "remains") {
    throw new SourceError(`the runner of ${id} (pid ${owner.claim.runner}) cannot be ended safely`);
  }
  clearGeneration(setup, id, owner.claim);
  return true;
}

/** Ids of everything that this home has registered or claimed. */
export async function sourcesOfHome(setup: SourceSetup): Promise<readonly SourceId[]> {
  const ids = new Set(listSources(setup.home.state));
  for (const id of listClaims(setup.claims)) {
    const owner = await ownership(setup, id);
    if (owner.kind !== "free" && owner.claim?.home === setup.home.home) ids.add(id);
  }
  return [...ids].toSorted();
}
