/**
 * One park in a process of its own that a test can have killed at any step of it. Not a test: started
 * with the root of a home and what its arm comes to.
 *
 *     park_steps_child.ts ROOT wake     the arm brings a wake
 *     park_steps_child.ts ROOT repair   the arm fails, and the guard would block
 *     park_steps_child.ts ROOT idle     nothing needs supervision
 *     park_steps_child.ts ROOT ceiling  the host has counted to the ceiling
 *
 * It tells the answer on standard output, and its steps, see `tests/support/killed_at_step.ts`.
 *
 * @module
 */

import { judgeNeed } from "../../src/decide/need.ts";
import { parkSettings } from "../../src/decide/park/settings.ts";
import { FLEET_COMMANDS } from "../../src/harness/commands.ts";
import { observeNeed } from "../../src/observe/need.ts";
import { sessionLockHolder } from "../../src/observe/session.ts";
import { ArmOutput } from "../../src/watch/arm_output.ts";
import { park } from "../../src/watch/park/park.ts";
import { countSteps } from "../support/killed_at_step.ts";

const [root = "", part] = Deno.args;
const state = `${root}/state`;
const owner = sessionLockHolder(state);
if (owner === undefined) throw new Error("the home has no session lock");

const steps = countSteps();
const end = await park({
  home: {
    root,
    home: root,
    state,
    config: `${root}/config`,
    watcherPath: `${root}/bin/fm-watch.sh`,
    foundBy: "--root",
  },
  settings: parkSettings({}),
  commands: FLEET_COMMANDS,
  loopCount: part === "ceiling" ? 180 : 0,
  session: "conv-1",
  event: { hash: "0a", startedAtMs: Date.now() },
  owner,
  ownsSession: () => Promise.resolve(true),
  isWatched: () => Promise.resolve(false),
  need: () => judgeNeed(observeNeed(state)),
  arm: () => {
    const output = new ArmOutput();
    output.add(part === "wake" ? "signal: x" : "watcher: FAILED");
    return Promise.resolve(output);
  },
  judge: () => Promise.resolve("the banner"),
  interruption: new Promise(() => {}),
  print: (answer) => {
    Deno.stdout.writeSync(new TextEncoder().encode(`answer ${answer}`));
    return Promise.resolve(true);
  },
});
console.log(`end ${end}`);
steps.report();
Deno.exit(0);
