/**
 * Many homes on one machine, each with a watcher of its own: what that takes, and what one shared
 * process would save.
 *
 * Started as `deno task bench:homes [--homes N] [--seconds N]`. Prints a table; exits 1 when a watcher
 * takes more of a core than it may.
 *
 * @module
 */

import { parseArgs } from "@std/cli";
import { exists } from "../support/files.ts";
import { makeHome, type TestHome } from "../support/home.ts";
import { until } from "../support/processes.ts";
import { environmentOf, TURNGUARD } from "../support/turnguard.ts";

/** Percent of one core that an idle watcher may take. */
const IDLE_PERCENT = 0.05;

/** Ticks of the processor clock a second, as Linux has counted them for decades. */
const TICKS_PER_SECOND = 100;

/** Started at once; more at a time only measures the start. */
const STARTED_AT_ONCE = 8;

/** Milliseconds after which a start is over, the engine's one large tidying-up included. */
const SETTLING_MS = 75_000;

interface Taken {
  readonly residentMiB: number;
  /** With shared pages counted once over all processes that share them. */
  readonly proportionalMiB: number;
  /** Pages of its own. */
  readonly privateMiB: number;
}

const flags = parseArgs(Deno.args, { string: ["homes", "seconds"] });
const homes = Number(flags["homes"] ?? "200");
const seconds = Number(flags["seconds"] ?? "120");
Deno.exit(await measure());

async function measure(): Promise<number> {
  const all = Array.from({ length: homes }, () => makeHome().task());
  const watchers: Deno.ChildProcess[] = [];
  try {
    for (let first = 0; first < homes; first += STARTED_AT_ONCE) {
      const started = all.slice(first, first + STARTED_AT_ONCE);
      watchers.push(...started.map(startWatcher));
      await until(() => started.every(hasBeaten), 60_000);
      progress(`${watchers.length} of ${homes} watchers started`);
    }
    await new Promise((resolve) => setTimeout(resolve, SETTLING_MS));
    const before = watchers.map(({ pid }) => ticksOf(pid));
    progress(`watching them for ${seconds} s`);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    const percents = watchers.map(({ pid }, index) =>
      100 * (ticksOf(pid) - (before[index] ?? 0)) / TICKS_PER_SECOND / seconds
    );
    return report(percents, watchers.map(({ pid }) => takenBy(pid)));
  } finally {
    for (const watcher of watchers) watcher.kill("SIGTERM");
    await Promise.all(watchers.map((watcher) => watcher.status));
    for (const home of all) await home[Symbol.asyncDispose]();
  }
}

function startWatcher(home: TestHome): Deno.ChildProcess {
  return new Deno.Command(TURNGUARD, {
    args: ["watch", ...home.args],
    clearEnv: true,
    env: environmentOf({}),
    cwd: "/",
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
}

function hasBeaten(home: TestHome): boolean {
  return exists(home.path("state/.last-watcher-beat"));
}

/** Time of the processor that a process and its reaped children have used. */
function ticksOf(pid: number): number {
  const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
  const words = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return words.slice(11, 15).map(Number).reduce((sum, ticks) => sum + ticks, 0);
}

function takenBy(pid: number): Taken {
  const text = Deno.readTextFileSync(`/proc/${pid}/smaps_rollup`);
  const mebibytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+([0-9]+) kB$`, "m").exec(text)?.[1] ?? NaN) / 1024;
  return {
    residentMiB: mebibytes("Rss"),
    proportionalMiB: mebibytes("Pss"),
    privateMiB: mebibytes("Private_Clean") + mebibytes("Private_Dirty"),
  };
}

function report(percents: readonly number[], taken: readonly Taken[]): number {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const sum = (pick: (one: Taken) => number): number =>
    taken.reduce((total, one) => total + pick(one), 0);
  const idle = mean(percents);
  const together = sum((one) => one.proportionalMiB);
  const shared = Math.max(...taken.map((one) => one.residentMiB));
  const rows = [
    ["homes", String(homes)],
    ["resident, one, MiB (mean)", mean(taken.map((one) => one.residentMiB)).toFixed(1)],
    ["of its own, one, MiB (mean)", mean(taken.map((one) => one.privateMiB)).toFixed(1)],
    ["all together, MiB", together.toFixed(0)],
    ["one process for all, MiB (about)", shared.toFixed(0)],
    ["saved by that, MiB (about)", (together - shared).toFixed(0)],
    ["processor, one, % of a core (mean)", idle.toFixed(4)],
    ["processor, one, % of a core (worst)", Math.max(...percents).toFixed(4)],
    ["processor, all, % of a core", (idle * homes).toFixed(1)],
  ];
  for (const [name = "", value = ""] of rows) {
    console.log(`${name.padEnd(38)}${value.padStart(10)}`);
  }
  const kept = idle <= IDLE_PERCENT;
  console.log(`${kept ? "kept" : "NOT KEPT"}: at most ${IDLE_PERCENT} % of a core each, idle`);
  return kept ? 0 : 1;
}

function progress(text: string): void {
  if (Deno.stderr.isTerminal()) console.error(text);
}
