/** Entries besides the guard's, which a person may want or not. */

import type { HookTemplate } from "./hook_template.ts";

/** Some of them. */
export interface ExtraHooks {
  /**
   * `always`: with the guard. `activity`: what the idle watchdog wants to know. `all`: further events
   * that make its picture finer.
   */
  readonly when: "always" | "activity" | "all";
  /** The mode that the entries call. */
  readonly mode: string;
  readonly template: HookTemplate;
}
