/** Adapters of process-event sources: what a kind of source says about its results. */

import { ownKind, targetKind } from "../../platform/path_kind.ts";
import { runGroup } from "../../platform/process_group.ts";
import { type Result, resultPath } from "../../state/procevent/inbox.ts";
import type { SourceSetup } from "./setup.ts";

/** The built-in adapter: no file, and every answer is no. */
const PLAIN_ADAPTER = "plain";

/** Seconds that an adapter has for an answer. */
const ANSWER_LIMIT_SECONDS = 60;

function adapterPath(setup: SourceSetup, adapter: string): string {
  return `${setup.home.root}/bin/fm-procevent-${adapter}.sh`;
}

/** Whether there is such an adapter. */
export function isInstalled(setup: SourceSetup, adapter: string): boolean {
  if (adapter === PLAIN_ADAPTER) return true;
  const path = adapterPath(setup, adapter);
  if (targetKind(path) !== "file" || ownKind(path) === "unknown") return false;
  try {
    return ((Deno.statSync(path).mode ?? 0) & 0o111) !== 0;
  } catch {
    return false;
  }
}

/** Whether results of this adapter are announced elsewhere, as far as it applies them. */
export async function isSelfAnnouncing(setup: SourceSetup, adapter: string): Promise<boolean> {
  return await ask(setup, adapter, ["self-announcing"]);
}

/** Whether this result ends its source. */
export async function isTerminal(setup: SourceSetup, result: Result): Promise<boolean> {
  return await ask(setup, result.adapter, ["terminal", resultPath(setup.home.state, result)]);
}

/** Whether the adapter applied the result, which then needs nobody's attention. */
export async function isAutohandled(setup: SourceSetup, result: Result): Promise<boolean> {
  const path = resultPath(setup.home.state, result);
  return await ask(setup, result.adapter, [
    "autohandle",
    result.id,
    String(result.sequence),
    path,
  ]);
}

/** Status 0 is the only yes: no adapter, a failure and no answer in time are all no. */
async function ask(
  setup: SourceSetup,
  adapter: string,
  question: readonly string[],
): Promise<boolean> {
  if (adapter === PLAIN_ADAPTER || !isInstalled(setup, adapter)) return false;
  const end = await runGroup({ path: adapterPath(setup, adapter), args: question }, {
    deadlineMs: ANSWER_LIMIT_SECONDS * 1_000,
    outputLimitBytes: 0,
    tick: () => {},
    stop: new Promise(() => {}),
  });
  return end.kind === "ended" && end.status === 0;
}
