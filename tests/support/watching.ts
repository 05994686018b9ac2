/** Real watchers over a test's home. */

import type { TestHome } from "./home.ts";
import { exists, textOf } from "./files.ts";
import { until } from "./processes.ts";
import { environmentOf, type RunResult, runTurnguard, TURNGUARD } from "./turnguard.ts";

/** Variables on top of those that keep a test short. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Short cycles, no lingering, and no sweep or heartbeat unless a test wants one. */
const QUICK: Variables = {
  FM_POLL: "1",
  FM_SIGNAL_GRACE: "0",
  FM_CHECK_INTERVAL: "9999",
  FM_HEARTBEAT: "9999",
};

/** Watches until the watcher ends by itself. */
export function watch(home: TestHome, env: Variables = {}): Promise<RunResult> {
  return runTurnguard(["watch", ...home.args], { env: { ...QUICK, ...env } });
}

/** A watcher that runs. */
export interface Watching extends AsyncDisposable {
  readonly pid: number;
  signal(name: Deno.Signal): void;
  /** Waits for its end. */
  ended(): Promise<RunResult>;
}

/** Starts a watcher and waits until it has recorded itself and given a beat. */
export async function startWatch(home: TestHome, env: Variables = {}): Promise<Watching> {
  const child = new Deno.Command(TURNGUARD, {
    args: ["watch", ...home.args],
    clearEnv: true,
    env: environmentOf({ ...QUICK, ...env }),
    cwd: "/",
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let over = false;
  const ended = child.output().then(({ code, stdout, stderr }) => {
    over = true;
    const decoder = new TextDecoder();
    return { status: code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
  });
  const since = beatMs(home);
  await until(() => over || (isRecorded(home, child.pid) && beatMs(home) > since));
  return {
    pid: child.pid,
    signal: (name) => child.kill(name),
    ended: () => ended,
    async [Symbol.asyncDispose](): Promise<void> {
      if (!over) child.kill("SIGKILL");
      await ended;
    },
  };
}

function isRecorded(home: TestHome, pid: number): boolean {
  return textOf(home.path("state/.watch.lock/pid")) === `${pid}\n` &&
    textOf(home.path("state/.watch.lock/pid-identity")) !== "";
}

/** When the beacon was touched last, in milliseconds since the epoch; 0 when it never was. */
export function beatMs(home: TestHome): number {
  const path = home.path("state/.last-watcher-beat");
  return exists(path) ? Deno.statSync(path).mtime?.getTime() ?? 0 : 0;
}

/** Kind, key and payload of the queued rows, tab separated, one row an entry. */
export function queued(home: TestHome): readonly string[] {
  return textOf(home.path("state/.wake-queue")).split("\n").slice(0, -1)
    .map((row) => row.split("\t").slice(2).join("\t"));
}

/** The recovery marker with its generation left out. */
export function marker(home: TestHome): string {
  return textOf(home.path("state/.watcher-down")).trim().replace(/:[A-Za-z0-9._-]+$/, "");
}
