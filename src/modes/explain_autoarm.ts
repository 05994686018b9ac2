/** The explanation of `autoarm`: whether it would arm, and which claim it would meet. */

import { decideAdmission } from "../decide/autoarm.ts";
import { judgeClaim } from "../decide/claim.ts";
import { autoarmGraceSeconds, claimGraceSeconds } from "../decide/claude_settings.ts";
import { describeMalformed, malformedSettings } from "../decide/settings.ts";
import { observeAdmission } from "../observe/autoarm.ts";
import { observeClaim } from "../observe/claim.ts";
import { claudeVariables } from "../observe/claude_turn_end.ts";
import type { Home } from "../observe/home.ts";
import { graceVariables } from "../observe/turn_end.ts";
import { systemProcesses } from "../platform/processes.ts";
import type { StandardInput } from "../platform/stdin.ts";
import { armScript } from "../watch/script_arm.ts";
import type { Explanation } from "./explanation.ts";
import { type Call, EXIT } from "./mode.ts";

/** Decides on admission as the hook would; takes nothing over and claims nothing. */
export async function explainAutoarm(
  call: Call,
  home: Home,
  input: StandardInput,
): Promise<Omit<Explanation, "payload">> {
  const { environment } = call;
  const processes = systemProcesses(environment);
  const admission = await decideAdmission(
    observeAdmission({ input, home, environment, processes }),
  );
  const grace = claimGraceSeconds(autoarmGraceSeconds(claudeVariables(environment)));
  const claim = await observeClaim(home.state, processes);
  const standing = judgeClaim(claim, grace);
  const arms = admission.kind === "arm" && standing.kind === "closed";
  return {
    mode: "autoarm",
    verdict: arms ? "arm" : "stand-down",
    code: admission.kind === "arm" && !arms ? "claim-open" : admission.code,
    exit: EXIT.ok,
    meaning: arms ? "it would claim this home and park" : "it would end in silence",
    home,
    steps: admission.steps,
    details: admission.kind === "stand-down" ? {} : {
      claim: standing.kind === "open"
        ? `open: ${standing.saw}`
        : `${standing.because}: ${standing.saw}`,
      ...(arms ? { next: `generation ${Number(claim.entry?.epoch ?? "0") + 1}` } : {}),
      arm: armScript(home.root) ?? "the watcher runs in the hook itself",
    },
    notices: malformedSettings(graceVariables(environment)).map(describeMalformed),
    told: undefined,
  };
}
