/**
 * One event recorded in a process of its own, which a test can have killed at any step of it. Not a
 * test: started with the path of an activity file and the id of the call that begins.
 *
 * @module
 */

import { ownUid } from "../../src/activity/own_uid.ts";
import { writeEvent } from "../../src/activity/write_event.ts";
import { DEFAULT_LIMITS } from "../../src/decide/activity/limits.ts";
import { countSteps } from "../support/killed_at_step.ts";

const [file = "", call = ""] = Deno.args;
const steps = countSteps();
writeEvent(file, ownUid() ?? -1, DEFAULT_LIMITS, {
  name: "PreToolUse",
  at: Date.now() / 1000,
  host: "claude",
  session: "S1",
  sessionKey: "0123456789abcdef",
  tool: "Bash",
  call,
});
steps.report();
