/** `status`: what a home needs, who watches it, and what a stop would get. */

import { buildInfo } from "../build_info.ts";
import { writeTo } from "../platform/output.ts";
import { personHome } from "./call_home.ts";
import { type Call, EXIT, type ExitStatus, hasFlag, type ModeSpec } from "./mode.ts";
import { complainUsage, say, sayJson, screenStyle } from "./person_output.ts";
import { homesToShow, withoutHome } from "./status_homes.ts";
import { asJson, STATUS_KEYS, STATUS_SCHEMA } from "./status_json.ts";
import { asMetrics } from "./status_metrics.ts";
import { observeReport, type Report } from "./status_report.ts";
import { asLines, asScreen } from "./status_screen.ts";

/** The mode. */
export const statusMode: ModeSpec = {
  name: "status",
  kind: "read-only",
  summary: "Show a home: scope, need, watcher, mode, queue, next verdict.",
  operands: "[--all [HOME...]]",
  maximumOperands: Infinity,
  flags: [
    { name: "root", value: "DIR", summary: "Root of the home." },
    { name: "all", summary: "Several homes: those that are named, or those of the list." },
    { name: "json", summary: "Print JSON." },
    { name: "prometheus", summary: "Print the text exposition format." },
  ],
  details: [
    "The verdict is the one that a first stop would get now; turnguard explain stop shows its " +
    "reasons. The exit status is 0 whatever the verdict is. Nothing is changed.",
    "--all takes homes from its words, else from TURNGUARD_HOMES (separated by colons), else from " +
    "${XDG_CONFIG_HOME:-~/.config}/turnguard/homes (one path a line, # for comments).",
    "--prometheus is for a textfile collector. Write it beside its place and rename, so that no half " +
    "of it is ever read: turnguard status --all --prometheus >tg.$$ && mv tg.$$ turnguard.prom",
    `--json prints one object (${STATUS_SCHEMA}), with --all an array of them. What does not apply or ` +
    `cannot be told is null. Its keys: ${
      STATUS_KEYS.map(([key, type]) => `${key} (${type})`).join(", ")
    }.`,
  ],
  startsPrograms: true,
  run: status,
};

async function status(call: Call): Promise<ExitStatus> {
  const all = hasFlag(call, "all");
  const forms = ["json", "prometheus"].filter((form) => hasFlag(call, form));
  if (forms.length > 1) {
    return await complainUsage(statusMode.name, "choose one of --json and --prometheus");
  }
  if (!all && call.operands.length > 0) {
    return await complainUsage(statusMode.name, "homes are named after --all; or use --root");
  }
  if (!all) return await print(call, [await observeReport(call, personHome(call))], "one");
  const homes = homesToShow(call.operands, call.environment);
  if (homes.kind === "none") {
    const list = homes.file === undefined ? "" : ` or list them in ${homes.file}`;
    return await complainUsage(statusMode.name, `name homes after --all${list}`);
  }
  return await print(
    call,
    await Promise.all(homes.roots.map((root) => observeRoot(call, root))),
    "all",
  );
}

async function observeRoot(call: Call, root: string): Promise<Report> {
  const own: Call = {
    ...call,
    flags: new Map([...call.flags, ["root", root]]),
    environment: withoutHome(call.environment),
  };
  return await observeReport(own, personHome(own));
}

async function print(
  call: Call,
  reports: readonly Report[],
  which: "one" | "all",
): Promise<ExitStatus> {
  const [first] = reports;
  const style = screenStyle(call.environment);
  if (hasFlag(call, "prometheus")) {
    await writeTo("stdout", asMetrics(reports, buildInfo().version));
  } else if (hasFlag(call, "json")) {
    await sayJson(which === "all" || first === undefined ? reports.map(asJson) : asJson(first));
  } else {
    await say(
      which === "all" || first === undefined ? asLines(reports, style) : asScreen(first, style),
    );
  }
  return EXIT.ok;
}
