/** The process-event sources of a home in numbers. */

import type { Home } from "../observe/home.ts";
import type { Environment } from "../platform/environment.ts";
import { unhandledResults } from "../state/procevent/inbox.ts";
import { listSources, readSource } from "../state/procevent/source.ts";
import { ownership } from "../watch/procevent/generation.ts";
import { sourceView } from "../watch/procevent/setup.ts";

/** Sources by what becomes of them. */
export interface SourceCounts {
  /** Registrations that can be run. */
  readonly registered: number;
  /** Registrations that count as need but are never run as they are. */
  readonly rejected: number;
  /** Of the registered ones, those whose runner lives; `null` when claims cannot be found. */
  readonly running: number | null;
  /** Of the registered ones, those whose owner cannot be told. */
  readonly doubtful: number | null;
  /** Results that nobody has acknowledged. */
  readonly unhandled: number;
  /** Why something is `null`. */
  readonly because: string | null;
}

/** Counts the sources of `home`; `needed` of them count as need. */
export async function countSources(
  home: Home,
  environment: Environment,
  needed: number,
): Promise<SourceCounts> {
  const ids = listSources(home.state)
    .filter((id) => readSource(home.state, id).kind === "registered");
  const counts = {
    registered: ids.length,
    rejected: Math.max(0, needed - ids.length),
    unhandled: unhandledResults(home.state).length,
  };
  if (ids.length === 0) return { ...counts, running: 0, doubtful: 0, because: null };
  const view = sourceView(home, environment);
  if (view === undefined) {
    const because = "neither HOME nor XDG_STATE_HOME says where claims are";
    return { ...counts, running: null, doubtful: null, because };
  }
  const owners = await Promise.all(ids.map((id) => ownership(view, id)));
  return {
    ...counts,
    running: owners.filter((owner) => owner.kind === "live" && owner.claim.home === home.home)
      .length,
    doubtful: owners.filter((owner) => owner.kind === "uncertain").length,
    because: null,
  };
}
