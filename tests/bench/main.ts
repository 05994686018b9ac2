/**
 * How fast and how small the executable is, compared with an empty program in the same run.
 *
 *     deno task bench [--json] [--runs N]
 *
 * Ratios are limited, not times, so that the machine does not matter. Exits 1 when a limit is not
 * kept.
 *
 * @module
 */

import { parseArgs } from "@std/cli";
import { makeHome, type TestHome } from "../support/home.ts";
import { TURNGUARD } from "../support/turnguard.ts";
import { claimAnswerMs, idleWatchdog, parkedAutoarm, parkedCursor } from "./claude.ts";
import { compileEmptyProgram } from "./empty_program.ts";
import { type Call, crowdMs, type Measured, peakMiB, startedPrograms, wallMs } from "./measure.ts";
import { asText, type Gate, gate, gates, type Limits, median, type Row } from "./report.ts";

/** The largest executable in MB; the same limit as the build has. */
const EXECUTABLE_MB = 98.5;

/** MiB that any run may take. */
const PEAK_MIB = 64;

/** Milliseconds, at the median, from the appearance of an open claim to the guard's exit. */
const CLAIM_MS = 20;
const CLAIM_RUNS = 15;

/** What a parked hook may take, and for how long it is looked at. */
const PARKED_MIB = 60;
const PARKED_PERCENT = 0.1;
const PARKED_SECONDS = 45;

/** What the activity hook may take, alone and in a crowd. */
const ACTIVITY_RATIO = 1.3;
const CROWD = 16;
const CROWD_ROUNDS = 9;

/** Runs that fill caches and are not counted. */
const WARM_UP_RUNS = 4;

/** Runs of which the largest peak counts. */
const PEAK_RUNS = 3;

const DEFAULT_RUNS = 50;
const FEWEST_RUNS = 40;

interface Case {
  readonly name: string;
  readonly call: Call;
  readonly limits: Limits;
}

async function main(): Promise<number> {
  const flags = parseArgs(Deno.args, { boolean: ["json"], string: ["runs"] });
  const runs = Math.max(FEWEST_RUNS, Number(flags.runs ?? DEFAULT_RUNS) || DEFAULT_RUNS);
  await using blocks = makeHome();
  await using idle = makeHome();
  await using watched = makeHome().task();
  await using many = makeHome();
  await watched.watcher(0);
  // A watcher that lives but no longer beats: its identity has to be computed and does not help.
  for (const home of [blocks, many]) await home.task().watcher(100_000);
  for (let index = 1; index < 1_000; index++) many.task(`task-${index}`);
  const empty = await compileEmptyProgram(blocks.folder);

  const rows = await measure(
    [
      { name: "empty program", call: { command: [empty], env: {}, status: 0 }, limits: {} },
      stop("no need", idle, 0, { ratio: 1.25, started: 0 }),
      stop("healthy watcher", watched, 0, { ratio: 1.6, started: 1 }),
      stop("block", blocks, 2, { ratio: 1.6, started: 1 }),
      stop("--claude, healthy watcher", watched, 0, { ratio: 1.6, started: 1 }, {}, ["--claude"]),
      stop("block, 1000 tasks", many, 2, { ratio: 2, started: 1 }),
      // Where no variable names the harness, up to eight ancestors are looked at on top.
      stop("block, harness by ancestry", blocks, 2, { started: 9 }, {}),
      activity(blocks.folder),
    ],
    runs,
    blocks.folder,
  );
  const size: Measured<number> = {
    kind: "measured",
    value: (await Deno.stat(TURNGUARD)).size / 1e6,
  };
  const [parked, cursor, watchdog] = await Promise.all([
    parkedAutoarm(PARKED_SECONDS),
    parkedCursor(PARKED_SECONDS),
    idleWatchdog(PARKED_SECONDS),
  ]);
  const crowd = await crowdRatio(empty, activity(blocks.folder).call);
  const extra = [
    ...gate("executable MB", size, EXECUTABLE_MB),
    ...gate("answer to an open claim, ms", await claimAnswerMs(CLAIM_RUNS), CLAIM_MS),
    ...gate("parked auto-arm: MiB", parked.residentMiB, PARKED_MIB),
    ...gate("parked auto-arm: % of one core", parked.cpuPercent, PARKED_PERCENT),
    ...gate("Cursor park: MiB", cursor.residentMiB, PARKED_MIB),
    ...gate("Cursor park: % of one core", cursor.cpuPercent, PARKED_PERCENT),
    ...gate("watchdog: MiB", watchdog.residentMiB, PARKED_MIB),
    ...gate("watchdog: % of one core", watchdog.cpuPercent, PARKED_PERCENT),
    ...gate("activity, 16 at once: ratio", crowd, ACTIVITY_RATIO),
  ];
  const all: readonly Gate[] = [...gates(rows), ...extra];
  console.log(
    flags.json ? JSON.stringify({ runs, rows, gates: all }, null, 2) : asText(rows, extra, runs),
  );
  return all.some(({ outcome }) => outcome === "fail") ? 1 : 0;
}

function stop(
  name: string,
  home: TestHome,
  status: number,
  limits: Limits,
  env: Readonly<Record<string, string>> = { CLAUDECODE: "1" },
  flags: readonly string[] = [],
): Case {
  const command = [TURNGUARD, "stop", ...flags, ...home.args];
  return {
    name,
    call: { command, env: { ...home.env, ...env }, status },
    limits: { ...limits, peakMiB: PEAK_MIB },
  };
}

/** The hook that runs before and after every call of a session. */
function activity(folder: string): Case {
  const event = { hook_event_name: "PreToolUse", tool_name: "Bash", tool_use_id: "bench" };
  return {
    name: "activity",
    call: {
      command: [TURNGUARD, "activity", "--host", "claude"],
      env: { HOME: folder },
      input: JSON.stringify({ session_id: "bench", ...event }),
      status: 0,
    },
    limits: { ratio: ACTIVITY_RATIO, started: 0, peakMiB: PEAK_MIB },
  };
}

/** How many times as long as an empty program the hook takes when sixteen run at once. */
async function crowdRatio(empty: string, call: Call): Promise<Measured<number>> {
  const nothing: Call = { command: [empty], env: {}, status: 0 };
  const [hooks, empties]: [number[], number[]] = [[], []];
  for (let round = 0; round < CROWD_ROUNDS; round++) {
    empties.push(await crowdMs(nothing, CROWD));
    hooks.push(await crowdMs(call, CROWD));
  }
  return { kind: "measured", value: median(hooks) / median(empties) };
}

async function measure(
  cases: readonly Case[],
  runs: number,
  scratch: string,
): Promise<readonly Row[]> {
  const times = cases.map((): number[] => []);
  for (let run = -WARM_UP_RUNS; run < runs; run++) {
    for (const [index, { call }] of cases.entries()) {
      const elapsed = await wallMs(call);
      if (run >= 0) times[index]?.push(elapsed);
    }
  }
  const floor = median(times[0] ?? []);
  const rows: Row[] = [];
  for (const [index, { name, call, limits }] of cases.entries()) {
    const medianMs = median(times[index] ?? []);
    rows.push({
      name,
      medianMs,
      ratio: medianMs / floor,
      peak: await largestPeak(call, scratch),
      started: await startedPrograms(call, scratch),
      limits,
    });
  }
  return rows;
}

async function largestPeak(call: Call, scratch: string): Promise<Measured<number>> {
  let largest: Measured<number> = { kind: "skipped", because: "no run" };
  for (let run = 0; run < PEAK_RUNS; run++) {
    const peak = await peakMiB(call, scratch);
    if (peak.kind === "skipped") return peak;
    if (largest.kind === "skipped" || peak.value > largest.value) largest = peak;
  }
  return largest;
}

Deno.exitCode = await main();
