/** The facts of one Cursor park. */

import type { ParkFacts, ParkPayloadFact } from "../decide/park/admission.ts";
import type { LoopCountField } from "../decide/park/loop_count.ts";
import type { ParkVariables } from "../decide/park/settings.ts";
import type { Ask } from "../decide/rule.ts";
import type { Environment } from "../platform/environment.ts";
import type { StandardInput } from "../platform/stdin.ts";
import { once } from "./once.ts";
import { readPayload, sessionId } from "./payload.ts";
import { observeScope } from "./scope.ts";
import { observeSession } from "./session.ts";
import type { TurnEndSources } from "./turn_end.ts";

/** Returns the function that admission asks for its facts. */
export function observePark(
  { input, home, environment, processes }: Omit<TurnEndSources, "anchor" | "steady">,
): Ask<ParkFacts> {
  const observers: { readonly [Name in keyof ParkFacts]: () => Promise<ParkFacts[Name]> } = {
    payload: once(() => observeParkPayload(input)),
    scope: once(() => observeScope(home)),
    piHost: once(() => isPiHost(environment)),
    session: once(() => observeSession(home.state, environment, processes)),
  };
  return (name) => observers[name]();
}

/** The payload, as far as a park reads it. */
export function observeParkPayload(input: StandardInput): ParkPayloadFact {
  const payload = readPayload(input);
  if (payload.kind !== "object") return payload;
  const { fields } = payload;
  return {
    kind: "object",
    loop: loopCountField(fields),
    sessionId: sessionId(fields["session_id"]),
  };
}

function loopCountField(fields: Readonly<Record<string, unknown>>): LoopCountField {
  if (!Object.hasOwn(fields, "loop_count")) return { kind: "absent" };
  const value = fields["loop_count"];
  return typeof value === "number" ? { kind: "number", value } : { kind: "wrong-type" };
}

/** Cursor names itself to everything that it starts; a Pi that Cursor started does so as well. */
function isPiHost(environment: Environment): boolean {
  return environment.get("PI_CODING_AGENT") === "true" &&
    environment.get("CURSOR_AGENT") === undefined &&
    environment.get("CURSOR_INVOKED_AS") === undefined;
}

/** The variables that a park is tuned with. */
export function parkVariables(environment: Environment): ParkVariables {
  return {
    FM_CURSOR_TURNEND_LOOP_CEILING: environment.get("FM_CURSOR_TURNEND_LOOP_CEILING"),
    FM_CURSOR_TURNEND_BLOCK_BUDGET: environment.get("FM_CURSOR_TURNEND_BLOCK_BUDGET"),
    FM_CURSOR_PARK_ATTEMPTS: environment.get("FM_CURSOR_PARK_ATTEMPTS"),
    FM_CURSOR_PARK_POLL: environment.get("FM_CURSOR_PARK_POLL"),
    FM_CURSOR_LOCK_ATTEMPTS: environment.get("FM_CURSOR_LOCK_ATTEMPTS"),
    TURNGUARD_PARK_MAX_SECONDS: environment.get("TURNGUARD_PARK_MAX_SECONDS"),
  };
}
