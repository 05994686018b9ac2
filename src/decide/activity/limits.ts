/** After how long what a session left open no longer counts. */

import { parseDuration } from "./duration.ts";

/** Seconds; 0 means never. */
export interface ExpiryLimits {
  /** Age of a launch whose harness tells when a subagent starts. */
  readonly launchTtl: number;
  /** Silence of a subagent. */
  readonly maxSilence: number;
  /** Age of a subagent that is silent, and of a launch that is the only evidence. */
  readonly maxAge: number;
  /** Age of another tool call. */
  readonly toolMax: number;
}

/** The limits when nobody set any. */
export const DEFAULT_LIMITS: ExpiryLimits = {
  launchTtl: 900,
  maxSilence: 3_600,
  maxAge: 10_800,
  toolMax: 1_200,
};

/** The limits of an environment; what is no duration counts as unset. */
export function expiryLimits(
  environment: { get(name: string): string | undefined },
): ExpiryLimits {
  const limit = (name: string, fallback: number): number => {
    const text = environment.get(name);
    return text === undefined ? fallback : parseDuration(text) ?? fallback;
  };
  return {
    launchTtl: limit("TURNGUARD_LAUNCH_TTL", DEFAULT_LIMITS.launchTtl),
    maxSilence: limit("TURNGUARD_SUBAGENT_MAX_SILENCE", DEFAULT_LIMITS.maxSilence),
    maxAge: limit("TURNGUARD_SUBAGENT_MAX_AGE", DEFAULT_LIMITS.maxAge),
    toolMax: limit("TURNGUARD_TOOL_MAX", DEFAULT_LIMITS.toolMax),
  };
}
