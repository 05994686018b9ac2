/** When this process was started, by the kernel's account rather than by its own first statement. */

import type { Environment } from "./environment.ts";
import { nowMs } from "./clock.ts";
import { runProgram } from "./program.ts";

/** Clock ticks per second in `/proc`, on every platform that has such files. */
const TICKS_PER_SECOND = 100;

/**
 * Milliseconds that are added, so that rounding to ticks never puts a start before it was. The
 * runtime alone needs longer than that before it can do anything.
 */
const ROUNDING_MS = 20;

/** A start further back than this cannot be right: no program takes so long to its first statement. */
const LONGEST_LAUNCH_MS = 30_000;

/**
 * Milliseconds since the epoch at which this process was started; `firstStatementMs` where that
 * cannot be told.
 *
 * On a busy machine seconds may lie between the two. Two deliveries of one event are started
 * together, whatever order their first statements come in.
 */
export async function ownStartMs(
  environment: Environment,
  firstStatementMs: number,
): Promise<number> {
  if (environment.get("FM_PROC_ROOT_OVERRIDE") !== undefined) return firstStatementMs;
  const output = await runProgram("cat", [`/proc/${Deno.pid}/stat`, "/proc/uptime"]);
  if (output.kind !== "answered" || !output.success) return firstStatementMs;
  const age = ageMs(new TextDecoder().decode(output.stdout));
  const start = age === undefined ? firstStatementMs : nowMs() - age + ROUNDING_MS;
  const plausible = start <= firstStatementMs && firstStatementMs - start <= LONGEST_LAUNCH_MS;
  return plausible ? start : firstStatementMs;
}

/** Age of a process in the text of its `stat` file followed by that of `/proc/uptime`. */
export function ageMs(text: string): number | undefined {
  const [stat = "", uptime = ""] = text.slice(text.lastIndexOf(")") + 2).split("\n");
  const ticks = stat.split(" ")[19];
  const [seconds] = uptime.split(" ");
  if (ticks === undefined || !/^[0-9]+$/.test(ticks)) return undefined;
  if (seconds === undefined || !/^[0-9]+\.[0-9]+$/.test(seconds)) return undefined;
  return Math.round(Number(seconds) * 1000 - Number(ticks) * (1000 / TICKS_PER_SECOND));
}
