/** What was asked for on the command line of `install` or `uninstall`. */

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
}
