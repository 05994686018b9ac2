/** Handing the digest to the session, through a program of the operator's. */

import { digestMessage } from "../../decide/daemon_wake.ts";
import { observeAwayMode } from "../../observe/daemon.ts";
import { printable } from "../../platform/printable.ts";
import { type GroupEnd, runGroup } from "../../platform/process_group.ts";
import { removeQuietly } from "../../state/replace_file.ts";
import { clearEscalations, readEscalations } from "../../state/escalations.ts";

/** Name of the marker that a digest waits for too long. */
export const WEDGED_NAME = ".subsuper-inject-wedged";

/** What an attempt came to. */
export type Flush =
  | "empty"
  | "delivered"
  /** Nothing was handed over: the mode is off, no program is named, or the consumer is away. */
  | "held-back"
  /** Nobody knows what waits. */
  | "unreadable"
  /** It was handed over and not taken; the items stay. */
  | "refused";

/** Milliseconds that each call of the program may take. */
const CALL_LIMIT_MS = 30_000;

/** What delivering needs. */
export interface DeliverySetup {
  readonly state: string;
  readonly program: string | undefined;
}

/** Delivers what is buffered, at most once: an unclear outcome keeps the items. Never throws. */
export async function flushEscalations(setup: DeliverySetup): Promise<Flush> {
  const { state, program } = setup;
  const buffer = readEscalations(state);
  if (buffer.kind === "unreadable") return "unreadable";
  const { items } = buffer;
  if (items.length === 0) return "empty";
  if (observeAwayMode(state) === "off" || program === undefined) return "held-back";
  if (!succeeded(await call(program, "probe"))) return "held-back";
  // Items quote what tasks wrote: nothing in them may steer the terminal that shows them.
  if (!succeeded(await call(program, "deliver", `${digestMessage(items.map(printable))}\n`))) {
    return "refused";
  }
  try {
    clearEscalations(state);
  } catch {
    // Delivered all the same; the next digest repeats it.
  }
  removeQuietly(`${state}/${WEDGED_NAME}`);
  return "delivered";
}

function succeeded(end: GroupEnd): boolean {
  return end.kind === "ended" && end.status === 0;
}

async function call(
  path: string,
  word: "probe" | "deliver",
  input?: string,
): Promise<GroupEnd> {
  const command = { path, args: [word], ...(input === undefined ? {} : { input }) };
  return await runGroup(command, {
    deadlineMs: CALL_LIMIT_MS,
    outputLimitBytes: 0,
    tick: () => {},
    // Its outcome has to be known, or the same digest comes twice: a stop waits for it.
    stop: new Promise(() => {}),
  });
}
