/** What the activity hook does now and then, out of the way of every call of a tool. */

import { dirname } from "@std/path";
import { ACTIVITY_NAME } from "../activity/activity_paths.ts";
import { ownUid } from "../activity/own_uid.ts";
import { ProcessChain } from "../activity/process_chain.ts";
import { pruneSome } from "../activity/prune_some.ts";
import { expiryLimits } from "../decide/activity/limits.ts";
import type { Environment } from "../platform/environment.ts";

export { appendDebugLine } from "../activity/debug_log.ts";

/** Removes a few files that are long over beside `file`, unless somebody chose that place. */
export async function pruneBeside(file: string, environment: Environment): Promise<void> {
  const uid = ownUid();
  const isChosen = environment.get("TURNGUARD_ACTIVITY_FILE") === file;
  const name = file.slice(dirname(file).length + 1);
  if (uid === undefined || isChosen || !ACTIVITY_NAME.test(name)) return;
  await pruneSome(dirname(file), {
    environment,
    uid,
    limits: expiryLimits(environment),
    chain: new ProcessChain(environment),
  });
}
