/** Every topic of `help`, in the order in which they are listed. */

import { BLOCKED } from "./blocked.ts";
import { ENVIRONMENT } from "./environment.ts";
import { EXIT_CODES } from "./exit_codes.ts";
import { HARNESSES } from "./harnesses.ts";
import { IDLE } from "./idle.ts";
import { MIGRATING } from "./migrating.ts";
import { SECURITY } from "./security.ts";
import { STATE_FILES } from "./state_files.ts";
import type { Topic } from "./topic.ts";

/** The topics. */
export const TOPICS: readonly Topic[] = [
  BLOCKED,
  HARNESSES,
  IDLE,
  STATE_FILES,
  ENVIRONMENT,
  EXIT_CODES,
  SECURITY,
  MIGRATING,
];
