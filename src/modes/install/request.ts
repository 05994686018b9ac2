/** What was asked for on the command line of `install` or `uninstall`. */

import type { ExtraHooks } from "../../harness/registration/extra_hooks.ts";
import type { Environment } from "../../platform/environment.ts";

/** One request. */
export interface Request {
  /** The home, or the project that is none. */
  readonly root: string;
  /** Whether the files of the user are meant, not those of the home. */
  readonly isForUser: boolean;
  readonly environment: Environment;
}

/** One request to register. */
export interface InstallRequest extends Request {
  /** The path that is registered. */
  readonly executable: string;
  /** Whether entries of the shell suite give way to ours. */
  readonly replacesShell: boolean;
  /** Whether there is a home to guard; elsewhere sessions can only be recorded. */
  readonly guards: boolean;
  /** Which entries besides the guard's are wanted. */
  readonly extras: readonly ExtraHooks["when"][];
  /** The modes that there are: nothing may be registered that would only fail. */
  readonly modes: readonly string[];
}
