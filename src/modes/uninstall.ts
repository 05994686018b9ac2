/** `uninstall`: takes what `install` registered out again, to the byte. */

import { carryOut } from "./install/carry_out.ts";
import { ALL, HARNESS_WORDS, whatIsWrong } from "./install/harness_words.ts";
import { INTEGRATIONS } from "./install/integrations.ts";
import { type Call, type ExitStatus, hasFlag, type ModeSpec } from "./mode.ts";
import { complainUsage } from "./person_output.ts";
import { rootOf } from "./registered_paths.ts";

/** The mode. */
export const uninstallMode: ModeSpec = {
  name: "uninstall",
  kind: "person",
  summary: "Take the turn-end guard out of a harness again.",
  operands: `${HARNESS_WORDS.join(" | ")} ... | ${ALL}`,
  maximumOperands: HARNESS_WORDS.length,
  flags: [
    { name: "root", value: "DIR", summary: "Root of the home." },
    { name: "user", summary: "Use the files of the user, which hold for every project." },
    { name: "dry-run", summary: "Print the change as a unified diff and write nothing." },
    { name: "json", summary: "Print what was done as JSON." },
  ],
  details: [
    "Takes out what is turnguard's and nothing else. A file that nobody has changed since is to the " +
    "byte what it was before the installation: a hook that was replaced comes back, and a file or a " +
    "folder that was made for ours goes, if nothing else is in it.",
    "A session that is running keeps the hooks that it has loaded.",
  ],
  startsPrograms: false,
  run: uninstall,
};

async function uninstall(call: Call): Promise<ExitStatus> {
  const wrong = whatIsWrong(call.operands);
  if (wrong !== undefined) return await complainUsage("uninstall", wrong);
  const isForUser = hasFlag(call, "user");
  const isAll = call.operands.includes(ALL);
  const request = { root: rootOf(call), isForUser, environment: call.environment };
  const plans = [];
  for (const integration of INTEGRATIONS) {
    if (!isAll && !call.operands.includes(integration.harness)) continue;
    // Nothing of ours is where nothing can be.
    if (isAll && isForUser && !integration.hasUserPlace) continue;
    plans.push(await integration.planRemoval(request));
  }
  return await carryOut(call, "uninstall", plans, []);
}
