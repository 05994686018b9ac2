/** Every harness that `install` registers with by a hook file. */

import { CLAUDE_REGISTRATION } from "../claude_registration.ts";
import { CODEX_REGISTRATION } from "../codex_registration.ts";
import { CURSOR_REGISTRATION } from "../cursor_registration.ts";
import { GROK_REGISTRATION } from "../grok_registration.ts";
import type { Registration } from "./registration.ts";

/** In the order in which they are named to people. */
export const REGISTRATIONS: readonly Registration[] = [
  CLAUDE_REGISTRATION,
  CODEX_REGISTRATION,
  CURSOR_REGISTRATION,
  GROK_REGISTRATION,
];
