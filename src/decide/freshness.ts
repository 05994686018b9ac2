/** Whether a beacon proves that its writer still runs. */

import type { BeaconFact } from "./facts.ts";

/** Freshness of a beacon; every kind but `fresh` proves nothing. */
export type Freshness =
  | { readonly kind: "fresh"; readonly ageSeconds: number }
  | { readonly kind: "stale"; readonly ageSeconds: number }
  | { readonly kind: "clock-skew"; readonly ageSeconds: number }
  | { readonly kind: "never" }
  | { readonly kind: "unreadable" };

/** Seconds that a beat may lie in the future before the clocks are not believed any more. */
export const CLOCK_SKEW_SECONDS = 60;

/**
 * A beat is fresh below the grace, strictly.
 *
 * A beat from the near future is a clock that was stepped back a little and counts as fresh; one
 * from further away would stay "fresh" for hours after its writer died.
 */
export function judgeFreshness(beacon: BeaconFact, graceSeconds: number): Freshness {
  if (beacon.kind !== "beat") return beacon;
  const { ageSeconds } = beacon;
  if (ageSeconds < -CLOCK_SKEW_SECONDS) return { kind: "clock-skew", ageSeconds };
  return { kind: ageSeconds < graceSeconds ? "fresh" : "stale", ageSeconds };
}

/** The beacon as banners show it. */
export function describeBeacon(beacon: BeaconFact): string {
  switch (beacon.kind) {
    case "never":
      return "never";
    case "unreadable":
      return "unknown";
    case "beat":
      return `${beacon.ageSeconds}s ago`;
  }
}
