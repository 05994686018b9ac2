/** One turn end, observed and decided; `stop` acts on it and `explain stop` prints it. */

import type { Environment } from "../platform/environment.ts";
import { type Processes, systemProcesses } from "../platform/processes.ts";
import type { StandardInput } from "../platform/stdin.ts";
import { type Home, logicalWorkingDirectory } from "../observe/home.ts";
import type { Anchor } from "../observe/session_directory.ts";
import { observeTurnEnd, type TurnEndObserver } from "../observe/turn_end.ts";
import { decideTurnEnd, type TurnEndMode, type TurnEndVerdict } from "../decide/turn_end.ts";
import { type Call, flagValue, hasFlag } from "./mode.ts";
import { steadyWatcher } from "./steady_watcher.ts";

/** A judged turn end, with the facts still at hand. */
export interface JudgedTurnEnd {
  readonly verdict: TurnEndVerdict;
  readonly mode: TurnEndMode;
  readonly home: Home;
  readonly facts: TurnEndObserver;
  readonly processes: Processes;
  /** How the registration tied the hook to a directory; it names its harness too. */
  readonly anchor: Anchor | undefined;
}

/** Judges the turn end of `home` that `input` announces. */
export async function judgeTurnEnd(
  call: Call,
  home: Home,
  input: StandardInput,
): Promise<JudgedTurnEnd> {
  const { environment } = call;
  const processes = systemProcesses(environment);
  const mode = hasFlag(call, "cursor") ? "cursor" : "default";
  const anchor = anchorOf(call, environment);
  const facts = observeTurnEnd({
    input,
    home,
    environment,
    processes,
    anchor,
    steady: steadyWatcher(call, home.state),
  });
  return { verdict: await decideTurnEnd(mode, facts), mode, home, facts, processes, anchor };
}

/** The anchor that a registration asks for; the directory that the hook runs in is the fallback. */
function anchorOf(call: Call, environment: Environment): Anchor | undefined {
  if (flagValue(call, "anchor-cwd") !== "codex") return undefined;
  const named = flagValue(call, "session-dir");
  return { harness: "codex", sessionDirectory: named ?? logicalWorkingDirectory(environment) };
}
