/** The program that knows what a task's crew is doing, where a home has one. */

import type { Home } from "../observe/home.ts";
import type { Environment } from "../platform/environment.ts";
import { runGroup } from "../platform/process_group.ts";
import type { AskCrew } from "./signal_scan.ts";

/** Bytes of an answer that are read; its first line is all that counts. */
const ANSWER_LIMIT_BYTES = 4_096;

/** Asks `FM_CREW_STATE_BIN`, else the home's own script; without either nobody answers. */
export function askCrewProgram(
  home: Home,
  environment: Environment,
  timeoutSeconds: number,
): AskCrew {
  const program = environment.get("FM_CREW_STATE_BIN") ?? `${home.root}/bin/fm-crew-state.sh`;
  if (!isExecutable(program)) return () => Promise.resolve(undefined);
  return async (taskId) => {
    const end = await runGroup({ path: program, args: [taskId] }, {
      deadlineMs: timeoutSeconds * 1000,
      outputLimitBytes: ANSWER_LIMIT_BYTES,
      tick: () => {},
      stop: new Promise(() => {}),
    });
    return end.kind === "ended" ? new TextDecoder().decode(end.output) : undefined;
  };
}

function isExecutable(path: string): boolean {
  try {
    const info = Deno.statSync(path);
    return info.isFile && ((info.mode ?? 0) & 0o111) !== 0;
  } catch {
    return false;
  }
}
