/** Plans told and carried out; what `install` and `uninstall` have in common. */

import { type Call, EXIT, type ExitStatus, hasFlag } from "../mode.ts";
import { complain } from "../person_output.ts";
import { type Telling, tellJson, tellPeople, tellRefusals } from "./outcome.ts";
import { perform } from "./perform.ts";
import type { Plan } from "./plan.ts";

/**
 * Does what the plans say, unless one of them is refused or nothing but a dry run is wanted. Nothing is
 * done for any harness when it cannot be done for all.
 */
export async function carryOut(
  call: Call,
  mode: Telling["mode"],
  plans: readonly Plan[],
  passedOver: readonly string[],
): Promise<ExitStatus> {
  const isJson = hasFlag(call, "json");
  const isDryRun = hasFlag(call, "dry-run");
  const attention: string[] = [];
  const telling: Telling = { mode, isDryRun, passedOver, attention };
  if (await tellRefusals(mode, plans)) {
    if (isJson) await tellJson(plans, telling);
    return EXIT.failure;
  }
  if (!isDryRun) {
    const performed = await perform(plans, call.environment);
    if (performed.kind === "failed") return await complain({ ...performed, mode });
    attention.push(...performed.attention);
  }
  await (isJson ? tellJson : tellPeople)(plans, telling);
  return EXIT.ok;
}
