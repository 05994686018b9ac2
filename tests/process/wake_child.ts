/**
 * One change of the wake queue in a process of its own, which a test can have killed at any of its
 * steps. Not a test: started with the state directory, the change, and what it needs.
 *
 *     wake_child.ts STATE append KEY…   appends a row for each key and prints the key once it is in
 *     wake_child.ts STATE present
 *     wake_child.ts STATE acknowledge THROUGH GENERATION
 *     wake_child.ts STATE arm
 *
 * At its end it prints the steps that it has made, see `tests/support/killed_at_step.ts`.
 *
 * @module
 */

import { armCheck } from "../../src/act/recovery.ts";
import { appendWake } from "../../src/act/wake_append.ts";
import { acknowledgeWakes, presentWakes } from "../../src/act/wake_drain.ts";
import { environmentOf } from "../../src/platform/environment.ts";
import { queuePaths } from "../../src/state/wake_queue.ts";
import { countSteps } from "../support/killed_at_step.ts";

const steps = countSteps();
const [state = "", change, ...words] = Deno.args;
const paths = queuePaths(state, environmentOf({}));

switch (change) {
  case "append":
    for (const key of words) {
      const queued = await appendWake(paths, { kind: "signal", key, payload: `signal: ${key}` });
      if (!queued) Deno.exit(1);
      console.log(key);
    }
    break;
  case "present":
    await presentWakes({ paths, reserved: () => Promise.resolve(new Set()) });
    break;
  case "acknowledge":
    await acknowledgeWakes({ paths, through: Number(words[0]), generation: words[1] ?? "" });
    break;
  case "arm":
    await armCheck(paths);
    break;
}
steps.report();
