/** The facts of one pull warning, each observed when it is first asked for and kept from then on. */

import type { WatcherFact } from "../decide/facts.ts";
import type { PullFacts } from "../decide/pull_warning.ts";
import type { Ask } from "../decide/rule.ts";
import type { Environment } from "../platform/environment.ts";
import type { Processes } from "../platform/processes.ts";
import { observeExtensions } from "./extension_markers.ts";
import type { Home } from "./home.ts";
import { observeMidturn } from "./midturn.ts";
import { once } from "./once.ts";
import { graceVariables } from "./turn_end.ts";
import { observeWatcher } from "./watcher.ts";

/** Where the facts of a pull warning are looked for. */
export interface PullSources {
  readonly home: Home;
  readonly environment: Environment;
  readonly processes: Processes;
  /** Looks once more at a watcher that was observed. */
  readonly steady: (fact: WatcherFact) => Promise<WatcherFact>;
}

/** Returns the function that the rules ask for their facts. */
export function observePullWarning(sources: PullSources): Ask<PullFacts> {
  const { home, environment, processes } = sources;
  const grace = graceVariables(environment);
  const observers: { readonly [Name in keyof PullFacts]: () => Promise<PullFacts[Name]> } = {
    watcher: once(async () => await sources.steady(await observeWatcher(home, grace, processes))),
    extensions: once(() => observeExtensions(home)),
    midturn: once(() => observeMidturn(home.state)),
  };
  return (name) => observers[name]();
}
