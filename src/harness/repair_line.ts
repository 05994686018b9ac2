/** The one line that tells a session how its supervision is repaired. */

import type { HomeCommands } from "./commands.ts";
import type { HarnessName } from "./names.ts";

/** What the line depends on. */
export interface RepairSituation {
  readonly harness: HarnessName;
  /** Away or quiet mode, by `.afk`. */
  readonly mode: "off" | "away" | "quiet";
  /** Absolute path of `x-mode.env` when the relay mode is configured. */
  readonly relaySettings: string | undefined;
  /** Seconds of a Codex checkpoint, `FM_CODEX_WATCH_CHECKPOINT`. */
  readonly checkpointSeconds: number;
  readonly commands: HomeCommands;
}

/** Words for the harnesses that have their own way; the rest follow their session's start block. */
const REPAIRS: Readonly<Partial<Record<HarnessName, (situation: RepairSituation) => string>>> = {
  "claude": () =>
    "watcher supervision needs Stop-owned automatic recovery; inspect the hook registration and " +
    "startup status before ending the turn.",
  "codex": ({ checkpointSeconds, commands }) =>
    "repair missing watcher supervision with a foreground checkpoint: " +
    `${commands.checkpoint} --seconds ${checkpointSeconds} and handle what it reports.`,
  "pi": piRepair,
  "pi-signed": piRepair,
  "omp": () =>
    "arm the watcher with the omp tool fm_watch_arm_omp, or restart omp in this home so that both " +
    ".omp/extensions/fm-primary-turnend-guard.ts and .omp/extensions/fm-primary-omp-watch.ts load.",
  "opencode": ({ commands }) =>
    `let the TUI plugin arm the watcher once the session is idle; ${commands.arm} is a manual ` +
    "recovery probe only.",
  "grok": ({ commands }) =>
    `run ${commands.arm} as its own Grok tracked background task, never shell &, before ending ` +
    "the turn.",
  "cursor": () =>
    "watcher supervision is owned by the stop-hook park; inspect its hook registration and the " +
    "watcher's startup status before ending the turn.",
};

/** The repair line for a situation, without a newline. */
export function repairLine(situation: RepairSituation): string {
  if (situation.mode === "away") {
    return `Away mode owns watcher supervision; load /afk and make sure its daemon runs${
      byCommand(situation, "")
    } instead of starting supervision directly.`;
  }
  if (situation.mode === "quiet") {
    return `Quiet mode owns watcher supervision; load /quiet and make sure its daemon runs${
      byCommand(situation, " --quiet")
    } instead of starting supervision directly.`;
  }
  const repair = REPAIRS[situation.harness]?.(situation) ??
    "repair missing watcher supervision according to the session-start block for this harness " +
      "before ending the turn; do not use shell &.";
  const settings = situation.relaySettings;
  return settings === undefined ? repair : `source ${singleQuoted(settings)} first, then ${repair}`;
}

/** How the daemon is started where no skill of the session does it. */
function byCommand({ commands: { away } }: RepairSituation, flag: string): string {
  return away === undefined ? "" : ` (${away}${flag}, as a background task)`;
}

function piRepair(): string {
  return "arm the watcher with the Pi tool fm_watch_arm_pi, or restart Pi with " +
    "-e .pi/extensions/fm-primary-turnend-guard.ts -e .pi/extensions/fm-primary-pi-watch.ts.";
}

/** A path for a POSIX shell; a line break in it would tear the banner's one line apart. */
function singleQuoted(path: string): string {
  return `'${path.replaceAll("'", `'\\''`).replaceAll(/[\r\n]/g, "?")}'`;
}
