/** Which commands a home's session has: its own scripts, or turnguard's. */

import { FLEET_COMMANDS, type HomeCommands, ownCommands } from "../harness/commands.ts";
import { targetKind } from "../platform/path_kind.ts";
import type { Home } from "./home.ts";
import { OWN_HOME_NAME } from "./session.ts";

/**
 * The commands of a home.
 *
 * A home that was made by `turnguard init` brings no scripts, except those that somebody added. Every
 * other one is told the scripts' names, whatever is there: its own instructions speak of them.
 */
export function homeCommands(home: Home): HomeCommands {
  if (targetKind(`${home.state}/${OWN_HOME_NAME}`) !== "file") return FLEET_COMMANDS;
  const own = ownCommands(home.foundBy === "--root" ? home.root : undefined);
  const preferred = (name: "arm" | "checkpoint" | "drain"): string =>
    targetKind(`${home.root}/${FLEET_COMMANDS[name]}`) === "file"
      ? FLEET_COMMANDS[name]
      : own[name];
  return {
    arm: preferred("arm"),
    checkpoint: preferred("checkpoint"),
    drain: preferred("drain"),
    away: own.away,
  };
}
