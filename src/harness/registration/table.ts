/** Every harness that `install` registers with. */

import { CLAUDE_REGISTRATION } from "../claude_registration.ts";
import { CODEX_REGISTRATION } from "../codex_registration.ts";
import type { Registration } from "./registration.ts";

/** In the order in which they are named to people. */
export const REGISTRATIONS: readonly Registration[] = [CLAUDE_REGISTRATION, CODEX_REGISTRATION];
