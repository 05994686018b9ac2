/** Whether anything in a home needs a watcher, and how to say what. */

import type { NeedFact } from "./facts.ts";

/** Whether supervision is needed. */
export type Need =
  | { readonly kind: "needed"; readonly what: string }
  | { readonly kind: "none" }
  | { readonly kind: "unknown"; readonly because: string };

/** Any counted source needs supervision; only the first kind that applies is named. */
export function judgeNeed(fact: NeedFact): Need {
  if (fact.kind === "unknown") return fact;
  if (fact.tasks > 0) return needed(`${fact.tasks} task(s) in flight`);
  if (fact.sources > 0) return needed(`${fact.sources} process-event source(s) registered`);
  if (fact.checks > 0) return needed(`${fact.checks} registered custom check(s)`);
  if (fact.relay) return needed("X-mode relay polling needs supervision");
  return { kind: "none" };
}

function needed(what: string): Need {
  return { kind: "needed", what };
}
