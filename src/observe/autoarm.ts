/** The facts of one auto-arm firing. */

import type { AdmissionFacts } from "../decide/autoarm.ts";
import type { Ask } from "../decide/rule.ts";
import { isGrokHost } from "./claude_turn_end.ts";
import { observeAwayMode } from "./daemon.ts";
import { observeNeed } from "./need.ts";
import { once } from "./once.ts";
import { observePayload } from "./payload.ts";
import { observeScope } from "./scope.ts";
import { observeSession } from "./session.ts";
import type { TurnEndSources } from "./turn_end.ts";

/** Returns the function that admission asks for its facts. */
export function observeAdmission(
  { input, home, environment, processes }: Omit<TurnEndSources, "anchor" | "steady">,
): Ask<AdmissionFacts> {
  const observers: {
    readonly [Name in keyof AdmissionFacts]: () => Promise<AdmissionFacts[Name]>;
  } = {
    payload: once(() => observePayload(input)),
    grokHost: once(() => isGrokHost(environment)),
    scope: once(() => observeScope(home)),
    session: once(() => observeSession(home.state, environment, processes)),
    awayMode: once(() => observeAwayMode(home.state)),
    need: once(() => observeNeed(home.state)),
  };
  return (name) => observers[name]();
}
