/** `status`: what a home needs, who watches it, and what a stop would get. */

import { buildInfo } from "../build_info.ts";
import type { Home } from "../observe/home.ts";
import { errorMessage } from "../platform/file_text.ts";
import { writeTo } from "../platform/output.ts";
import { personHome } from "./call_home.ts";
import { type Call, EXIT, type ExitStatus, hasFlag, type ModeSpec } from "./mode.ts";
import { complainUsage, say, sayJson, screenStyle } from "./person_output.ts";
import { homesToShow, withoutHome } from "./status_homes.ts";
import {
  homeAsJson,
  HOMES_SCHEMA,
  homesAsJson,
  STATUS_KEYS,
  STATUS_SCHEMA,
} from "./status_json.ts";
import { homesAsMetrics, STATUS_METRICS } from "./status_metrics.ts";
import { type HomeStatus, observeHomeStatus } from "./status_report.ts";
import { asLines, asScreen } from "./status_screen.ts";

/** The mode. */
export const statusMode: ModeSpec = {
  name: "status",
  kind: "read-only",
  summary: "Show a home: scope, need, watcher, mode, queue, next verdict.",
  operands: "[HOME...]",
  maximumOperands: Infinity,
  flags: [
    { name: "root", value: "DIR", summary: "Root of the home." },
    { name: "all", summary: "Several homes: those that are named, or those of the list." },
    { name: "json", summary: "Print one JSON object." },
    { name: "prometheus", summary: "Print metrics in the text exposition format." },
  ],
  details: [
    "The verdict is the one that a first stop would get now; turnguard explain stop shows its " +
    "reasons. Nothing is changed. The exit status is 0 whatever the verdict is, and when a home " +
    "cannot be read: that is part of what is told.",
    "--all takes homes from its words, else from TURNGUARD_HOMES (separated by colons), else from " +
    "${XDG_CONFIG_HOME:-~/.config}/turnguard/homes (one absolute path a line, # for comments). It " +
    "prints a line a home, the worst first: BLIND (a stop would be blocked), UNKNOWN (cannot be " +
    "read), outside (not guarded), watched, idle.",
    "--prometheus is for a textfile collector. This mode gives up writing before it starts, so " +
    "there is no flag for a file: have the shell write one beside its place and rename it, which " +
    "a collector never sees half of: turnguard status --all --prometheus >tg.$$ && mv tg.$$ " +
    "turnguard.prom",
    "What cannot be told has no sample there, and turnguard_status_undetermined says so.",
    `--json prints one object (${STATUS_SCHEMA}); with --all, an object with the keys schema ` +
    `(${HOMES_SCHEMA}) and homes, an array of such objects in the order in which they were named. ` +
    "No key is ever left out.",
  ],
  tables: [STATUS_KEYS, STATUS_METRICS],
  startsPrograms: true,
  run: status,
};

async function status(call: Call): Promise<ExitStatus> {
  const words = [...call.operands, ...call.rest];
  const wrong = whatIsWrong(call, words);
  if (wrong !== undefined) return await complainUsage(statusMode.name, wrong);
  if (!hasFlag(call, "all")) return await printHome(call, personHome(call));
  const homes = homesToShow(words, call.environment);
  if (homes.kind === "none") {
    const todo = "name homes after --all, in TURNGUARD_HOMES or in that list";
    return await complainUsage(statusMode.name, `${homes.because}; ${todo}`);
  }
  const statuses = await Promise.all(homes.roots.map((root) => statusOf(call, root)));
  return await printHomes(call, statuses);
}

/** What is wrong with the words of a call, in words. */
function whatIsWrong(call: Call, words: readonly string[]): string | undefined {
  if (hasFlag(call, "json") && hasFlag(call, "prometheus")) {
    return "choose one of --json and --prometheus";
  }
  if (!hasFlag(call, "all")) {
    return words.length > 0 ? "homes are named after --all; or use --root" : undefined;
  }
  return hasFlag(call, "root") ? "with --all homes are named without --root" : undefined;
}

/** Never throws: one home must not hide the others. */
async function statusOf(call: Call, root: string): Promise<HomeStatus> {
  const own: Call = {
    ...call,
    flags: new Map([...call.flags, ["root", root]]),
    environment: withoutHome(call.environment),
  };
  const home = personHome(own);
  try {
    return await observeHomeStatus(own, home);
  } catch (error) {
    return { home, problem: errorMessage(error), judged: null, state: null };
  }
}

async function printHome(call: Call, home: Home): Promise<ExitStatus> {
  const found = await observeHomeStatus(call, home);
  if (hasFlag(call, "prometheus")) return await printMetrics([found]);
  if (hasFlag(call, "json")) await sayJson(homeAsJson(found));
  else await say(asScreen(found, screenStyle(call.environment)));
  return EXIT.ok;
}

async function printHomes(call: Call, statuses: readonly HomeStatus[]): Promise<ExitStatus> {
  if (hasFlag(call, "prometheus")) return await printMetrics(statuses);
  if (hasFlag(call, "json")) await sayJson(homesAsJson(statuses));
  else await say(asLines(statuses, screenStyle(call.environment)));
  return EXIT.ok;
}

/** A collector's file must not be replaced by half an exposition, so the reader's end counts. */
async function printMetrics(statuses: readonly HomeStatus[]): Promise<ExitStatus> {
  const outcome = await writeTo("stdout", homesAsMetrics(statuses, buildInfo().version));
  return outcome === "written" ? EXIT.ok : EXIT.failure;
}
