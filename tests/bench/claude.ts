/**
 * What hooks that wait cost: the answer to a claim that appears, and an hour that is only waited.
 *
 * @module
 */

import { type ClaudeSession, type Hook, openSession } from "../support/claude_session.ts";
import { exists } from "../support/files.ts";
import { makeHome } from "../support/home.ts";
import { identityOf, startSleeper, until } from "../support/processes.ts";
import { startTurnguard } from "../support/turnguard.ts";
import type { Measured } from "./measure.ts";
import { median } from "./report.ts";

/** Milliseconds from the appearance of an open claim to the guard's exit, at the median. */
export async function claimAnswerMs(runs: number): Promise<Measured<number>> {
  const times: number[] = [];
  for (let run = 0; run < runs; run++) times.push(await oneAnswerMs());
  return { kind: "measured", value: median(times) };
}

/** A wait so long that an answer in time can only come from the claim. */
const LONG_WAIT_MS = "5000";

/** Milliseconds after the guard's start at which the claim appears: it is waiting by then. */
const CLAIM_AFTER_MS = 400;

async function oneAnswerMs(): Promise<number> {
  await using home = makeHome().task();
  await using owner = startSleeper();
  home.write("state/.lock", `${owner.pid}\n`);
  const guard = startTurnguard(["stop", "--claude", ...home.args], {
    env: { ...home.env, FM_CLAUDE_AUTOARM_SYNC_WAIT_MS: LONG_WAIT_MS },
    stdin: "piped",
  });
  const writer = guard.stdin.getWriter();
  await writer.write(new TextEncoder().encode('{"session_id":"S1"}'));
  await writer.close();
  await new Promise((resolve) => setTimeout(resolve, CLAIM_AFTER_MS));
  const words = `epoch=1 owner_pid=${owner.pid} outcome=arming updated_at=1`;
  home.write("state/ledger", `${words}\n${await identityOf(owner.pid)}\n`);
  const ledger = home.path("state/.claude-autoarm-epoch");
  const from = performance.now();
  Deno.renameSync(home.path("state/ledger"), ledger);
  const { code } = await guard.status;
  if (code !== 0) throw new Error(`the guard blocked an open claim: ${code}`);
  return performance.now() - from;
}

/** A parked hook over a while. */
export interface Parked {
  readonly residentMiB: Measured<number>;
  readonly cpuPercent: Measured<number>;
}

/** Ticks of the processor clock a second, as Linux has counted them for decades. */
const TICKS_PER_SECOND = 100;

/** Milliseconds after which a start is over, the engine's one large tidying-up included. */
const SETTLING_MS = 60_000;

/** Parks a hook as the harness named `harness` does, lets it wait for `seconds`, and measures it. */
async function parked(
  harness: string,
  park: (session: ClaudeSession) => Promise<Hook>,
  seconds: number,
): Promise<Parked> {
  await using home = makeHome().task();
  await using session = await openSession(home, { name: harness });
  const hook = await park(session.hold());
  await until(() => exists(home.path("state/.last-watcher-beat")));
  const { pid } = hook;
  await new Promise((resolve) => setTimeout(resolve, SETTLING_MS));
  const before = cpuTicks(pid);
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const used = (cpuTicks(pid) - before) / TICKS_PER_SECOND;
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  const resident = Number(/VmRSS:\s+([0-9]+)/.exec(status)?.[1] ?? NaN) / 1024;
  hook.signal("SIGTERM");
  await hook.ended();
  return {
    residentMiB: { kind: "measured", value: resident },
    cpuPercent: { kind: "measured", value: 100 * used / seconds },
  };
}

/** A parked auto-arm of Claude. */
export function parkedAutoarm(seconds: number): Promise<Parked> {
  return parked("claude", (session) => session.autoarm(), seconds);
}

/** A parked stop hook of Cursor. */
export function parkedCursor(seconds: number): Promise<Parked> {
  return parked("cursor-agent", (session) => session.park(), seconds);
}

/** A watchdog over a command that does nothing, with the looks that it has by default. */
export async function idleWatchdog(seconds: number): Promise<Parked> {
  const home = Deno.makeTempDirSync({ prefix: "turnguard-bench-" });
  const watchdog = startTurnguard(["watchdog", "--quiet", "--", "/bin/sleep", "600"], {
    env: { HOME: home },
  });
  try {
    await new Promise((resolve) => setTimeout(resolve, SETTLING_MS));
    const before = cpuTicks(watchdog.pid);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    const used = (cpuTicks(watchdog.pid) - before) / TICKS_PER_SECOND;
    const status = Deno.readTextFileSync(`/proc/${watchdog.pid}/status`);
    const resident = Number(/VmRSS:\s+([0-9]+)/.exec(status)?.[1] ?? NaN) / 1024;
    return {
      residentMiB: { kind: "measured", value: resident },
      cpuPercent: { kind: "measured", value: 100 * used / seconds },
    };
  } finally {
    watchdog.kill("SIGTERM");
    await watchdog.status;
    Deno.removeSync(home, { recursive: true });
  }
}

/** Ticks of the processor that a process and its reaped children have used. */
function cpuTicks(pid: number): number {
  const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
  const words = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return words.slice(11, 15).map(Number).reduce((sum, ticks) => sum + ticks, 0);
}
