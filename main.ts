/** turnguard: the arguments choose a mode, and the mode's status ends the process. */

import { run } from "./src/modes/run.ts";
import { processEnvironment } from "./src/platform/environment.ts";

Deno.exit(await run(Deno.args, processEnvironment()));
