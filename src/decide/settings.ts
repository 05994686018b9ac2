/** Settings that were given but are no numbers, in words for people. */

import { flatGrace, type GraceVariables, pollSeconds } from "./grace.ts";
import type { NumberSetting } from "./number.ts";

/** A setting that counts as unset because it is malformed. */
export interface MalformedSetting {
  readonly name: string;
  readonly text: string;
  /** Value that is used instead. */
  readonly used: number;
}

/** The malformed ones among the variables that make up a grace. */
export function malformedSettings(variables: GraceVariables): readonly MalformedSetting[] {
  const settings: Readonly<Record<keyof GraceVariables, NumberSetting>> = {
    FM_GUARD_GRACE: flatGrace(variables),
    FM_POLL: pollSeconds(variables),
  };
  return Object.entries(settings).flatMap(([name, setting]) =>
    setting.kind === "malformed" ? [{ name, text: setting.text, used: setting.value }] : []
  );
}

/** One sentence about a malformed setting. */
export function describeMalformed(setting: MalformedSetting): string {
  return `${setting.name}="${setting.text.slice(0, 40)}" is not a whole number; ` +
    `${setting.used} s is used.`;
}
