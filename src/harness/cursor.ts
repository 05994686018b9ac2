/** Cursor: how the stop hooks in its hook files are told apart. */

/** Token by which our stop entry is recognised in `.cursor/hooks.json`. */
export const CURSOR_STOP_TOKEN = "turnguard:cursor-stop";

/** The script of the shell suite that does the same. */
const REFERENCE_PARK = "fm-turnend-guard-cursor.sh";

/**
 * Whose park a registered command runs, or `undefined` when it runs none. Two parks for one stop would
 * only get in each other's way.
 */
export function parkOfCommand(command: string): "turnguard" | "scripts" | undefined {
  if (command.includes(CURSOR_STOP_TOKEN)) return "turnguard";
  return command.includes(REFERENCE_PARK) ? "scripts" : undefined;
}
