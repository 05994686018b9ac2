/**
 * One watcher's life in simulated time, in a process of its own. Not a test: started with the home's
 * root and a {@link Life} as JSON.
 *
 * It appends a line to the file `Life.record` for each beat (moment awake, open descriptors), and ends
 * with one line of JSON on standard output, a {@link Report}, unless it is killed as it was told.
 *
 * @module
 */

import { acknowledgeWakes, presentWakes } from "../../src/act/wake_drain.ts";
import { environmentOf } from "../../src/platform/environment.ts";
import { systemProcesses } from "../../src/platform/processes.ts";
import { queuePaths } from "../../src/state/wake_queue.ts";
import { runWatcher } from "../../src/watch/watcher.ts";
import { SimulatedClock } from "../support/simulated_clock.ts";

/** What a life is made of; milliseconds throughout. */
export interface Life {
  /** What the wall clock says at its start. */
  readonly startMs: number;
  /** Time awake after which it is killed, and changes of the file system that come in between. */
  readonly killAfterMs: number;
  readonly killSteps: number;
  /** Time awake after which it is asked to stop. */
  readonly stopAfterMs: number;
  /** Moments awake at which the wall clock jumps, and by how much. */
  readonly jumps: readonly (readonly [atMs: number, byMs: number])[];
  /** Moments awake at which a task reports. */
  readonly reports: readonly number[];
  readonly settings: Readonly<Record<string, string>>;
  readonly record: string;
}

/** How a life ended. */
export interface Report {
  readonly kind: string;
  readonly reason: string;
  readonly awakeMs: number;
  readonly wallMs: number;
}

const [root = "", text = ""] = Deno.args;
const life: Life = JSON.parse(text);
const state = `${root}/state`;
const environment = environmentOf(life.settings);
const home = {
  root,
  home: root,
  state,
  config: `${root}/config`,
  watcherPath: `${root}/bin/fm-watch.sh`,
  foundBy: "--root",
} as const;

const clock = new SimulatedClock(life.startMs);
const { promise: stop, resolve: endLife } = Promise.withResolvers<void>();
const jumps = [...life.jumps];
const reports = [...life.reports];

clock.moved = () => {
  for (; (jumps[0]?.[0] ?? Infinity) <= clock.awakeMs; jumps.shift()) {
    clock.jump(jumps[0]?.[1] ?? 0);
  }
  for (; (reports[0] ?? Infinity) <= clock.awakeMs; reports.shift()) {
    Deno.writeTextFileSync(`${state}/task1.status`, `done: ${clock.awakeMs}\n`, { append: true });
  }
  if (clock.awakeMs >= life.stopAfterMs) endLife();
};

const spawn = Deno.Command.prototype.spawn;
Deno.Command.prototype.spawn = function (this: Deno.Command): Deno.ChildProcess {
  const child = spawn.call(this);
  clock.waitFor(child.status);
  return child;
};

/** Kills the process in the middle of whatever it does once its time has come. */
let stepsLeft = life.killSteps;
function step(): void {
  if (clock.awakeMs >= life.killAfterMs && stepsLeft-- <= 0) Deno.kill(Deno.pid, "SIGKILL");
}

function counted<Arguments extends unknown[], Result>(
  change: (...args: Arguments) => Result,
): (...args: Arguments) => Result {
  return (...args) => {
    step();
    return change(...args);
  };
}

/** Beats between two counts of the open descriptors, which take longer than all the rest. */
const COUNT_EVERY = 20;

const record = Deno.openSync(life.record, { append: true });
let beats = 0;
let descriptors = 0;
const utime = Deno.utimeSync;
Deno.utimeSync = (path, accessed, modified) => {
  step();
  if (String(path).endsWith("/.last-watcher-beat")) {
    if (beats++ % COUNT_EVERY === 0) descriptors = [...Deno.readDirSync("/proc/self/fd")].length;
    record.writeSync(new TextEncoder().encode(`${clock.awakeMs} ${descriptors}\n`));
  }
  utime(path, accessed, modified);
};
Deno.mkdirSync = counted(Deno.mkdirSync);
Deno.renameSync = counted(Deno.renameSync);
Deno.removeSync = counted(Deno.removeSync);
Deno.symlinkSync = counted(Deno.symlinkSync);

/** Handles what is queued, as a session does before it arms again. */
async function handleWakes(): Promise<void> {
  const paths = queuePaths(state, environment);
  const shown = await presentWakes({ paths, reserved: () => Promise.resolve(new Set()) });
  if (shown.kind !== "presented" || shown.handling === undefined) return;
  await acknowledgeWakes({ paths, ...shown.handling });
}

await handleWakes();
let reason = "";
const end = await runWatcher({
  home,
  environment,
  look: () => systemProcesses(environment),
  stop,
  started: () => {},
  tell: (line) => {
    reason = line;
    return Promise.resolve("written");
  },
});
const report: Report = {
  kind: end.kind,
  reason: end.kind === "failed" ? end.because : reason,
  awakeMs: clock.awakeMs,
  wallMs: clock.wallMs,
};
console.log(JSON.stringify(report));
Deno.exit(0);
