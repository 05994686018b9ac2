/** The refusal where a guard is wanted and there is nothing to guard. */

import { type Plan, refusal } from "./plan.ts";
import type { Request } from "./request.ts";

/** The refusal, in words for a person. */
export function notAHome(harness: string, { root }: Pick<Request, "root">): Plan {
  return refusal(
    harness,
    `${root} is not a home: it needs a file AGENTS.md and a folder bin`,
    "make it one with turnguard init, or name the home with --root DIR",
  );
}
