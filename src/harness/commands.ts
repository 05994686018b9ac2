/** What the commands of a home are called, for the texts that name them. */

import { printable } from "../platform/printable.ts";
import { pasteable } from "./shell_quote.ts";

/** Commands as a session in the home types them. */
export interface HomeCommands {
  readonly arm: string;
  readonly checkpoint: string;
  readonly drain: string;
  /** Turns away mode on; `undefined` where the session's own skill does that. */
  readonly away: string | undefined;
}

/** The scripts of a fleet's home. */
export const FLEET_COMMANDS: HomeCommands = {
  arm: "bin/fm-watch-arm.sh",
  checkpoint: "bin/fm-watch-checkpoint.sh",
  drain: "bin/fm-wake-drain.sh",
  away: undefined,
};

/** turnguard's own commands; `root` is the home's, where it is not found without being named. */
export function ownCommands(root: string | undefined): HomeCommands {
  const named = root === undefined ? "" : ` --root ${pasteable(printable(root))}`;
  return {
    arm: `turnguard arm${named}`,
    checkpoint: `turnguard checkpoint${named}`,
    drain: `turnguard wake drain${named}`,
    away: `turnguard afk on${named}`,
  };
}
