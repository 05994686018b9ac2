/** The numbers that the Cursor park is tuned with. */

import { numberSetting } from "../number.ts";

/** The variables that the numbers come from, as text. */
export interface ParkVariables {
  readonly FM_CURSOR_TURNEND_LOOP_CEILING?: string | undefined;
  readonly FM_CURSOR_TURNEND_BLOCK_BUDGET?: string | undefined;
  readonly FM_CURSOR_PARK_ATTEMPTS?: string | undefined;
  readonly FM_CURSOR_PARK_POLL?: string | undefined;
  readonly FM_CURSOR_LOCK_ATTEMPTS?: string | undefined;
  readonly TURNGUARD_PARK_MAX_SECONDS?: string | undefined;
}

/** What a park goes by. */
export interface ParkSettings {
  /** Follow-ups in a row after which nothing is armed any more. */
  readonly ceiling: number;
  /** Repair follow-ups in a row that one session is given. */
  readonly budget: number;
  /** Arms that one park starts at the most. */
  readonly attempts: number;
  /** Milliseconds between two looks at whether this park still has to wait. */
  readonly pollMs: number;
  /** Milliseconds that the lock of the baton is tried for, and between two tries. */
  readonly lock: { readonly limitMs: number; readonly stepMs: number };
  /** Seconds that the host gives the hook. */
  readonly hostSeconds: number;
}

const LOCK_STEP_MS = 100;

/** The settings that `variables` make; what is malformed counts as unset. */
export function parkSettings(variables: ParkVariables): ParkSettings {
  const positive = (text: string | undefined, fallback: number): number =>
    numberSetting(text, "positive-digits", fallback).value;
  const attempts = variables.FM_CURSOR_PARK_ATTEMPTS ?? "";
  return {
    ceiling: positive(variables.FM_CURSOR_TURNEND_LOOP_CEILING, 180),
    budget: positive(variables.FM_CURSOR_TURNEND_BLOCK_BUDGET, 3),
    attempts: /^[123]$/.test(attempts) ? Number(attempts) : 2,
    pollMs: positive(variables.FM_CURSOR_PARK_POLL, 2) * 1000,
    lock: {
      // There is no wait after the last try.
      limitMs: (positive(variables.FM_CURSOR_LOCK_ATTEMPTS, 50) - 1) * LOCK_STEP_MS,
      stepMs: LOCK_STEP_MS,
    },
    hostSeconds: positive(variables.TURNGUARD_PARK_MAX_SECONDS, 28_800),
  };
}
