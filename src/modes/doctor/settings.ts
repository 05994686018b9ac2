/** Check of the settings in the environment: numbers that are none, and graces that never hold. */

import {
  blockBudget,
  type ClaudeVariables,
  configuredBudget,
  hostBlockCap,
} from "../../decide/claude_settings.ts";
import { flatGrace, type GraceVariables, pollSeconds } from "../../decide/grace.ts";
import { describeMalformed, malformedSettings } from "../../decide/settings.ts";
import { type Check, ok, wrong } from "./check.ts";

/** The checks of the settings; one line for each that is wrong. */
export function checkSettings(variables: ClaudeVariables): Check[] {
  const malformed = malformedSettings(variables).map((setting) =>
    wrong("settings", describeMalformed(setting), `correct ${setting.name}, or unset it`)
  );
  const checks = [...malformed, ...checkGrace(variables), ...checkBudget(variables)];
  if (checks.length > 0) return checks;
  const grace = flatGrace(variables).value;
  return [
    ok(
      "settings",
      `beats come ${pollSeconds(variables).value} s apart and are fresh below ${grace} s`,
    ),
  ];
}

/** A grace below the poll is legal, but then a healthy watcher looks dead between its beats. */
function checkGrace(variables: GraceVariables): Check[] {
  const grace = flatGrace(variables).value;
  const poll = pollSeconds(variables).value;
  if (grace > poll) return [];
  const what = grace <= 0
    ? `FM_GUARD_GRACE is ${grace}: no beat is ever fresh, every stop with work is blocked`
    : `beats may come ${poll} s apart but are fresh below ${grace} s: a healthy watcher looks dead`;
  return [wrong("settings", what, "raise FM_GUARD_GRACE above FM_POLL, or unset it")];
}

/** A budget at or above Claude's own cap would never come to its alarm. */
function checkBudget(variables: ClaudeVariables): Check[] {
  const configured = configuredBudget(variables).value;
  const used = blockBudget(variables);
  if (configured === used) return [];
  const cap = hostBlockCap(variables).value;
  return [
    wrong(
      "settings",
      `the block budget is ${configured}, but Claude gives up after ${cap} blocks: ${used} is used`,
      "lower FM_CLAUDE_TURNEND_BLOCK_BUDGET, or raise CLAUDE_CODE_STOP_HOOK_BLOCK_CAP",
    ),
  ];
}
