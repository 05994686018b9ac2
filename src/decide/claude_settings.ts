/** The numbers that Claude's two hooks are tuned with. */

import { effectiveBudget, HOST_BLOCK_CAP } from "./budget.ts";
import { awayGrace, DEFAULT_GRACE_SECONDS, flatGrace, type GraceVariables } from "./grace.ts";
import { type NumberSetting, numberSetting } from "./number.ts";

/** The variables that the numbers come from, as text. */
export interface ClaudeVariables extends GraceVariables {
  readonly FM_CLAUDE_AUTOARM_SYNC_WAIT_MS?: string | undefined;
  readonly FM_CLAUDE_AUTOARM_EPOCH_FRESH?: string | undefined;
  readonly FM_CLAUDE_TURNEND_BLOCK_BUDGET?: string | undefined;
  readonly FM_CLAUDE_AUTOARM_ATTEMPTS?: string | undefined;
  readonly CLAUDE_CODE_STOP_HOOK_BLOCK_CAP?: string | undefined;
}

/** Milliseconds that the guard waits for the auto-arm; 0 is one look. */
export function syncWaitMs(variables: ClaudeVariables): NumberSetting {
  return numberSetting(variables.FM_CLAUDE_AUTOARM_SYNC_WAIT_MS, "digits", 800);
}

/** Seconds for which an outcome in the ledger stays meaningful. */
export function epochFreshSeconds(variables: ClaudeVariables): NumberSetting {
  return numberSetting(variables.FM_CLAUDE_AUTOARM_EPOCH_FRESH, "positive-digits", 15);
}

/** Blocks in a row that are asked for before the alarm. */
export function configuredBudget(variables: ClaudeVariables): NumberSetting {
  return numberSetting(variables.FM_CLAUDE_TURNEND_BLOCK_BUDGET, "positive-digits", 3);
}

/** Claude's own cap on consecutive blocks; 0 is none. */
export function hostBlockCap(variables: ClaudeVariables): NumberSetting {
  return numberSetting(variables.CLAUDE_CODE_STOP_HOOK_BLOCK_CAP, "digits", HOST_BLOCK_CAP);
}

/** Blocks in a row that are used before the alarm: below the host's cap, whatever was configured. */
export function blockBudget(variables: ClaudeVariables): number {
  return effectiveBudget(configuredBudget(variables).value, hostBlockCap(variables).value);
}

/** Arms that one firing starts at the most: 1, 2 or 3; anything else is 2. */
export function armAttempts(variables: ClaudeVariables): number {
  const text = variables.FM_CLAUDE_AUTOARM_ATTEMPTS ?? "";
  return /^[123]$/.test(text) ? Number(text) : 2;
}

/** Seconds without movement after which the guard calls a claim stuck. */
export function guardClaimGraceSeconds(variables: ClaudeVariables): number {
  return claimGraceSeconds(flatGrace(variables).value);
}

/** Seconds of grace that the auto-arm judges with and hands to its arm. */
export function autoarmGraceSeconds(variables: ClaudeVariables): number {
  return awayGrace(variables).value;
}

/** A grace of nothing would make every claim stuck at once. */
export function claimGraceSeconds(graceSeconds: number): number {
  return graceSeconds > 0 ? graceSeconds : DEFAULT_GRACE_SECONDS;
}
