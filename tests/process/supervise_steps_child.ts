/**
 * One stretch of supervision in a process of its own that a test can have killed at any step of it. Not
 * a test: started with the root of a home and the part that it plays.
 *
 *     supervise_steps_child.ts ROOT watch    one watcher's life
 *     supervise_steps_child.ts ROOT arm      one arm's, with its watcher inside
 *     supervise_steps_child.ts ROOT handle   what the daemon does with one wake
 *
 * It tells the wake on standard output, and its steps, see `tests/support/killed_at_step.ts`.
 *
 * @module
 */

import { acknowledgeWakes, presentWakes } from "../../src/act/wake_drain.ts";
import { environmentOf } from "../../src/platform/environment.ts";
import { systemProcesses } from "../../src/platform/processes.ts";
import { queuePaths } from "../../src/state/wake_queue.ts";
import { classifyWake } from "../../src/watch/daemon/classify.ts";
import { runOwnArm } from "../../src/watch/own_arm.ts";
import { runWatcher } from "../../src/watch/watcher.ts";
import { countSteps } from "../support/killed_at_step.ts";

const [root = "", part] = Deno.args;
const environment = environmentOf({
  FM_SIGNAL_GRACE: "0",
  FM_POLL: "1",
  FM_CHECK_INTERVAL: "9999",
});
const state = `${root}/state`;
const home = {
  root,
  home: root,
  state,
  config: `${root}/config`,
  watcherPath: `${root}/bin/fm-watch.sh`,
  foundBy: "--root",
} as const;
const setup = {
  home,
  environment,
  look: () => systemProcesses(environment),
  stop: new Promise<void>(() => {}),
};

const steps = countSteps();
switch (part) {
  case "watch":
    await runWatcher({
      ...setup,
      started: () => {},
      tell: (reason) => {
        console.log(reason);
        return Promise.resolve("written");
      },
    });
    break;
  case "arm":
    for (const line of (await runOwnArm(setup)).wakes) console.log(line);
    break;
  case "handle":
    await handle();
    break;
}
steps.report();
Deno.exit(0);

/** Classifies everything that is queued, and acknowledges it then. */
async function handle(): Promise<void> {
  const paths = queuePaths(state, environment);
  const shown = await presentWakes({ paths, reserved: () => Promise.resolve(new Set()) });
  if (shown.kind !== "presented") return;
  const rules = { captainPattern: undefined, pauseVerb: "paused" };
  for (const { payload } of shown.rows) {
    classifyWake({ state, skip: "heartbeat", reports: rules }, payload);
  }
  if (shown.handling !== undefined) await acknowledgeWakes({ paths, ...shown.handling });
}
