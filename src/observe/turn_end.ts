/** The facts of one turn end, each observed when it is first asked for and kept from then on. */

import type { TurnEndFacts, WatcherFact } from "../decide/facts.ts";
import type { GraceVariables } from "../decide/grace.ts";
import type { Environment } from "../platform/environment.ts";
import type { Processes } from "../platform/processes.ts";
import type { StandardInput } from "../platform/stdin.ts";
import { observeDaemon } from "./daemon.ts";
import type { Home } from "./home.ts";
import { observeNeed } from "./need.ts";
import { once } from "./once.ts";
import { observePayload } from "./payload.ts";
import { observeScope } from "./scope.ts";
import { type Anchor, observeSessionDirectory } from "./session_directory.ts";
import { observeWatcher } from "./watcher.ts";

/** Where the facts of a turn end are looked for. */
export interface TurnEndSources {
  readonly input: StandardInput;
  readonly home: Home;
  readonly environment: Environment;
  readonly processes: Processes;
  readonly anchor: Anchor | undefined;
  /** Looks once more at a watcher that was observed. */
  readonly steady: (fact: WatcherFact) => Promise<WatcherFact>;
}

/** An {@link TurnEndFacts} that is filled on demand. */
export type TurnEndObserver = <Name extends keyof TurnEndFacts>(
  name: Name,
) => Promise<TurnEndFacts[Name]>;

type Observers = { readonly [Name in keyof TurnEndFacts]: () => Promise<TurnEndFacts[Name]> };

/** Returns the function that rules ask for their facts. */
export function observeTurnEnd(sources: TurnEndSources): TurnEndObserver {
  const { home, environment, processes } = sources;
  const grace = graceVariables(environment);
  const observers: Observers = {
    payload: once(() => observePayload(sources.input)),
    sessionDirectory: once(() => observeSessionDirectory(home.root, sources.anchor)),
    scope: once(() => observeScope(home)),
    need: once(() => observeNeed(home.state)),
    watcher: once(async () => await sources.steady(await observeWatcher(home, grace, processes))),
    daemon: once(() => observeDaemon(home.state, grace, processes)),
  };
  return (name) => observers[name]();
}

/** The variables that a grace is made of. */
export function graceVariables(environment: Environment): GraceVariables {
  return {
    FM_GUARD_GRACE: environment.get("FM_GUARD_GRACE"),
    FM_POLL: environment.get("FM_POLL"),
  };
}
