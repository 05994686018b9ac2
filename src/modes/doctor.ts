/** `doctor`: whether the executable, the machine and the home can do what they are meant to do. */

import { observeWatcher } from "../observe/watcher.ts";
import { claudeVariables } from "../observe/claude_turn_end.ts";
import { graceVariables } from "../observe/turn_end.ts";
import { printable } from "../platform/printable.ts";
import { systemProcesses } from "../platform/processes.ts";
import { personHome } from "./call_home.ts";
import { CANARY_HARNESSES, runCanary } from "./doctor/canary.ts";
import { type Check, type Outcome, statusOf } from "./doctor/check.ts";
import { checkClock, observeAges } from "./doctor/clock.ts";
import { checkExecutable, observeExecutable } from "./doctor/executable.ts";
import { checkHome, isThere } from "./doctor/home.ts";
import { checkPermissions, observeGrants } from "./doctor/permissions.ts";
import { checkProcesses, observeProcesses } from "./doctor/processes.ts";
import { checkRegistrations } from "./doctor/registrations.ts";
import { checkSettings } from "./doctor/settings.ts";
import { checkContents, checkState, observeState } from "./doctor/state_directory.ts";
import { observeSelf, selfLines } from "./doctor/self.ts";
import { checkMount, checkPidNamespace, checkWorkingDirectory } from "./doctor/surroundings.ts";
import { checkWatcher } from "./doctor/watcher.ts";
import { type Call, EXIT, type ExitStatus, flagValue, hasFlag, type ModeSpec } from "./mode.ts";
import { counted, labelled, say, sayJson, screenStyle, type Style } from "./person_output.ts";

/** The mode. */
export const doctorMode: ModeSpec = {
  name: "doctor",
  kind: "person",
  summary: "Check the executable, the machine and the home; say what to do.",
  flags: [
    { name: "root", value: "DIR", summary: "Root of the home." },
    { name: "json", summary: "Print one JSON object." },
    {
      name: "canary",
      value: "HARNESS",
      summary: "Run one real turn in a home that is thrown away.",
      choices: CANARY_HARNESSES,
    },
    { name: "self", summary: "What this executable is, and whether it is as built." },
  ],
  details: [
    "Exit status: 0 when all is well, 1 when something is wrong, 3 when something could not be " +
    "determined and nothing is wrong.",
    "Of every registered harness it tells whether the hooks stand, are quoted as they were " +
    "written, start a file that is there, get enough time, and when they last really ran.",
    "--canary makes a home, registers the harness there, has its own program take one turn with " +
    "your account, and looks whether that turn was blocked. Nothing of your configuration changes.",
    "--json prints an object with the keys outcome and checks; each check has id, outcome (ok, " +
    "wrong or undetermined), what and, where something can be done, todo.",
  ],
  startsPrograms: true,
  run: doctor,
};

async function doctor(call: Call): Promise<ExitStatus> {
  if (hasFlag(call, "self")) return await examineSelf(call);
  const canary = flagValue(call, "canary");
  if (canary !== undefined) {
    return await sayChecks(call, [await runCanary(canary, call.environment)]);
  }
  // Looking must change nothing; --self has to see what was granted first.
  Deno.permissions.revokeSync({ name: "write" });
  return await sayChecks(call, await examine(call));
}

async function sayChecks(call: Call, checks: readonly Check[]): Promise<ExitStatus> {
  const status = statusOf(checks);
  if (hasFlag(call, "json")) await sayJson({ outcome: overall(checks), checks });
  else await say(asScreen(checks, screenStyle(call.environment)));
  return status;
}

async function examineSelf(call: Call): Promise<ExitStatus> {
  const report = observeSelf();
  if (hasFlag(call, "json")) await sayJson(report);
  else await say(selfLines(report));
  if (!report.compiled) return EXIT.undetermined;
  return report.isAsBuilt ? EXIT.ok : EXIT.failure;
}

async function examine(call: Call): Promise<readonly Check[]> {
  const { environment } = call;
  const home = personHome(call);
  const executable = observeExecutable();
  const variables = graceVariables(environment);
  const machine = [
    ...checkExecutable(executable, environment),
    checkPermissions(observeGrants(), executable.compiled),
    checkProcesses(await observeProcesses(environment)),
    checkWorkingDirectory(),
    ...checkSettings(claudeVariables(environment)),
    ...checkHome(home),
  ];
  if (!isThere(home)) return machine;
  const state = await observeState(home.state);
  // Without a directory there is nothing more to look at, and that is said.
  if (state.kind !== "directory") return [...machine, ...checkState(state)];
  const watcher = await observeWatcher(home, variables, systemProcesses(environment));
  return [
    ...machine,
    ...checkState(state),
    checkContents(home.state),
    checkClock(observeAges(home.state)),
    checkWatcher(watcher),
    checkPidNamespace(watcher),
    await checkMount(home.state),
    ...await checkRegistrations({ home, environment }),
  ];
}

function overall(checks: readonly Check[]): Outcome {
  const outcomes = ["wrong", "undetermined"] as const;
  return outcomes.find((outcome) => checks.some((check) => check.outcome === outcome)) ?? "ok";
}

const MARK_COLUMNS = 9;
const ID_COLUMNS = 18;

const MARKS: Readonly<Record<Outcome, string>> = {
  ok: "ok",
  wrong: "WRONG",
  undetermined: "unknown",
};

function asScreen(checks: readonly Check[], style: Style): readonly string[] {
  const count = (outcome: Outcome): number =>
    checks.filter((check) => check.outcome === outcome).length;
  return [
    ...checks.flatMap((check) => checkLines(check, style)),
    "",
    `${counted(checks.length, "check")}: ${count("ok")} ok, ${count("wrong")} wrong, ` +
    `${count("undetermined")} unknown`,
  ];
}

function checkLines(check: Check, style: Style): readonly string[] {
  const mark = MARKS[check.outcome].padEnd(MARK_COLUMNS);
  const indent = " ".repeat(MARK_COLUMNS + ID_COLUMNS);
  const lines = labelled(mark + check.id.padEnd(ID_COLUMNS), printable(check.what))
    .map((line, index) =>
      index === 0 ? paintOf(check, style)(mark) + line.slice(mark.length) : line
    );
  const todo = check.todo === undefined ? [] : labelled(`${indent}→ `, printable(check.todo));
  return [...lines, ...todo];
}

function paintOf({ outcome }: Check, style: Style): (text: string) => string {
  switch (outcome) {
    case "ok":
      return style.good;
    case "wrong":
      return style.bad;
    case "undetermined":
      return style.doubtful;
  }
}
