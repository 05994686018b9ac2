/** What this machine tells about its clocks: time since boot, time awake, the last waking up. */

import { nowMs } from "./clock.ts";
import { runProgram } from "./program.ts";

/** What a machine tells about its clocks; seconds throughout. */
export type MachineClocks =
  /** Linux: time since boot with and without sleep. */
  | { readonly kind: "since-boot"; readonly upSeconds: number; readonly awakeSeconds: number }
  /** macOS: how long ago the machine woke up last. */
  | { readonly kind: "since-wake"; readonly wokeAgoSeconds: number }
  | { readonly kind: "unknown" };

/** The clocks in the files `uptime` and `stat` below another root than `/proc`. */
export function readClocksBelow(root: string): MachineClocks {
  try {
    const texts = ["uptime", "stat"].map((name) => Deno.readTextFileSync(`${root}/${name}`));
    return parseProcClocks(texts.join(""));
  } catch {
    return { kind: "unknown" };
  }
}

/** Hundredths of a second, as the columns of `/proc/stat` count. */
const TICKS_PER_SECOND = 100;

/**
 * Parses `/proc/uptime` followed by `/proc/stat`.
 *
 * The first counts sleep; the columns of the first processor do not, and it is never taken offline.
 * The last two columns are part of others. Containers that hide the columns tell nothing.
 */
export function parseProcClocks(text: string): MachineClocks {
  const up = /^([0-9]+\.[0-9]+) /.exec(text)?.[1];
  const columns = /^cpu0 ((?:[0-9]+ ?)+)$/m.exec(text)?.[1]?.trim().split(" ").slice(0, 8);
  const ticks = columns?.map(Number).reduce((sum, column) => sum + column, 0) ?? 0;
  if (up === undefined || ticks === 0) return { kind: "unknown" };
  return { kind: "since-boot", upSeconds: Number(up), awakeSeconds: ticks / TICKS_PER_SECOND };
}

/** When macOS woke up last; unknown elsewhere. */
export async function readWakeTime(): Promise<MachineClocks> {
  if (Deno.build.os !== "darwin") return { kind: "unknown" };
  const output = await runProgram("sysctl", ["-n", "kern.waketime"]);
  if (output.kind !== "answered" || !output.success) return { kind: "unknown" };
  return parseWakeTime(new TextDecoder().decode(output.stdout), nowMs());
}

/** Parses `{ sec = 1700000000, usec = 0 } …`; zero seconds mean that the machine never slept. */
export function parseWakeTime(text: string, atMs: number): MachineClocks {
  const second = Number(/sec = ([0-9]{1,15})\b/.exec(text)?.[1] ?? "0");
  if (second === 0) return { kind: "unknown" };
  return { kind: "since-wake", wokeAgoSeconds: atMs / 1000 - second };
}
