/** The one line that tells a session how its supervision is repaired. */

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
}

/** Words for the harnesses that have their own way; the rest follow their session's start block. */
const REPAIRS: Readonly<Partial<Record<HarnessName, (situation: RepairSituation) => string>>> = {
  "claude": () =>
    "watcher supervision needs Stop-owned automatic recovery; inspect the hook registration and " +
    "startup status before ending the turn.",
  "codex": ({ checkpointSeconds }) =>
    `run bin/fm-watch-checkpoint.sh --seconds ${checkpointSeconds} as a foreground checkpoint ` +
    "and handle what it reports before ending the turn.",
  "pi": () => piRepair("fm_watch_arm_pi", ".pi", "fm-primary-pi-watch.ts"),
  "pi-signed": () => piRepair("fm_watch_arm_pi", ".pi", "fm-primary-pi-watch.ts"),
  "omp": () => piRepair("fm_watch_arm_omp", ".omp", "fm-primary-omp-watch.ts"),
  "opencode": () =>
    "let the TUI plugin arm the watcher once the session is idle; use bin/fm-watch-arm.sh only " +
    "as a manual probe.",
  "grok": () =>
    "start bin/fm-watch-arm.sh as a tracked background task, never shell &, before ending the turn.",
  "cursor": () =>
    "let the stop-hook park arm the watcher; if this repeats, inspect its registration in " +
    ".cursor/hooks.json before ending the turn.",
};

/** The repair line for a situation, without a newline. */
export function repairLine(situation: RepairSituation): string {
  if (situation.mode === "away") {
    return "Away mode owns watcher supervision; load /afk and make sure its daemon runs instead of " +
      "starting supervision directly.";
  }
  if (situation.mode === "quiet") {
    return "Quiet mode owns watcher supervision; load /quiet and make sure its daemon runs instead " +
      "of starting supervision directly.";
  }
  const repair = REPAIRS[situation.harness]?.(situation) ??
    "repair missing watcher supervision according to the session-start block for this harness " +
      "before ending the turn; do not use shell &.";
  const settings = situation.relaySettings;
  return settings === undefined ? repair : `source ${singleQuoted(settings)} first, then ${repair}`;
}

function piRepair(tool: string, folder: string, watchExtension: string): string {
  const extensions = `${folder}/extensions`;
  return `call ${tool} to arm the watcher; if the tool is missing, load ` +
    `${extensions}/fm-primary-turnend-guard.ts and ${extensions}/${watchExtension} first.`;
}

/** A path for a POSIX shell; a line break in it would tear the banner's one line apart. */
function singleQuoted(path: string): string {
  return `'${path.replaceAll("'", `'\\''`).replaceAll(/[\r\n]/g, "?")}'`;
}
