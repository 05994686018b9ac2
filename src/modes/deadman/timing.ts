/** The three spans of time that `deadman install` takes. */

import type { DeadmanTiming } from "../../decide/deadman.ts";
import { numberSetting } from "../../decide/number.ts";
import { type Call, flagValue } from "../mode.ts";

/** Bounds and default of each span, in seconds. */
export const SPANS = {
  interval: { least: 60, most: 86_400, usual: 300 },
  cooldown: { least: 60, most: 2_592_000, usual: 3_600 },
  "boot-grace": { least: 0, most: 86_400, usual: 600 },
} as const;

/** The timing of a call, or what is wrong with its flags. */
export type Timing =
  | { readonly kind: "timing"; readonly timing: DeadmanTiming }
  | { readonly kind: "wrong"; readonly wrong: string };

/** Reads the flags. */
export function timingOf(call: Call): Timing {
  const spans = { interval: 0, cooldown: 0, "boot-grace": 0 };
  for (const name of ["interval", "cooldown", "boot-grace"] as const) {
    const { least, most, usual } = SPANS[name];
    const setting = numberSetting(flagValue(call, name), "digits", usual);
    if (setting.kind === "malformed" || setting.value < least || setting.value > most) {
      return { kind: "wrong", wrong: `--${name} is a number of seconds from ${least} to ${most}` };
    }
    spans[name] = setting.value;
  }
  return {
    kind: "timing",
    timing: {
      intervalSeconds: spans.interval,
      cooldownSeconds: spans.cooldown,
      bootGraceSeconds: spans["boot-grace"],
    },
  };
}
