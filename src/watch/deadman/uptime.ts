/** How long the machine has been up. */

import type { Environment } from "../../platform/environment.ts";
import { readText } from "../../platform/file_text.ts";
import { runProgram } from "../../platform/program.ts";

/**
 * Whole seconds since boot, or `undefined` where the machine does not tell.
 *
 * Linux says it in `/proc/uptime`, read as everything else below `/proc` is; other systems give the
 * time of the boot to `sysctl`.
 */
export async function uptimeSeconds(
  environment: Environment,
  nowSeconds: number,
): Promise<number | undefined> {
  const text = await procUptime(environment);
  if (text !== undefined) return parseProcUptime(text);
  const answer = await runProgram("sysctl", ["-n", "kern.boottime"]);
  if (answer.kind !== "answered" || !answer.success) return undefined;
  const bootedAt = parseBootTime(new TextDecoder().decode(answer.stdout));
  return bootedAt === undefined ? undefined : Math.max(0, nowSeconds - bootedAt);
}

async function procUptime(environment: Environment): Promise<string | undefined> {
  const override = environment.get("FM_PROC_ROOT_OVERRIDE");
  if (override !== undefined) {
    const file = readText(`${override}/uptime`);
    return file.kind === "text" ? file.text : undefined;
  }
  const answer = await runProgram("cat", ["/proc/uptime"]);
  if (answer.kind !== "answered" || !answer.success) return undefined;
  return new TextDecoder().decode(answer.stdout);
}

/** The first number of `/proc/uptime`. */
export function parseProcUptime(text: string): number | undefined {
  const digits = /^([0-9]{1,12})(\.[0-9]+)?(\s|$)/.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** The second since the epoch in `{ sec = 1700000000, usec = 0 } Tue Nov 14 …`. */
export function parseBootTime(text: string): number | undefined {
  const digits = /\bsec = ([0-9]{1,12})\b/.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
