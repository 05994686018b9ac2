/** `instructions`: how this session supervises its home, as a block or as the one repair line. */

import { numberSetting } from "../decide/number.ts";
import { detectHarness } from "../harness/detect.ts";
import {
  instructionBlock,
  type InstructionSituation,
  repairInstruction,
} from "../harness/instructions.ts";
import type { HarnessName } from "../harness/names.ts";
import { observeAwayMode } from "../observe/daemon.ts";
import type { Home } from "../observe/home.ts";
import { homeCommands } from "../observe/home_commands.ts";
import { observeWakeBacklog } from "../observe/pull_warning/wake_backlog.ts";
import type { Environment } from "../platform/environment.ts";
import { targetKind } from "../platform/path_kind.ts";
import { printable } from "../platform/printable.ts";
import { parentPid, type Processes, systemProcesses } from "../platform/processes.ts";
import { personHome } from "./call_home.ts";
import { type Call, EXIT, type ExitStatus, flagValue, hasFlag, type ModeSpec } from "./mode.ts";
import { say } from "./person_output.ts";

/** Every value may be empty: shell callers pass on variables that nobody set. */
const YES_OR_NO = { value: "0|1", mayBeEmpty: true } as const;

/** The mode. */
export const instructionsMode: ModeSpec = {
  name: "instructions",
  kind: "read-only",
  summary: "Say how a session supervises its home, or in one line how to repair that.",
  flags: [
    { name: "root", value: "DIR", summary: "Root of the home." },
    { name: "repair-line", summary: "Print the repair line alone." },
    { name: "harness", value: "NAME", mayBeEmpty: true, summary: "The harness; else detected." },
    { name: "read-only", ...YES_OR_NO, summary: "Whether the session lacks the home's lock." },
    { name: "afk", ...YES_OR_NO, summary: "Whether away or quiet mode is on." },
    { name: "afk-mode", value: "MODE", mayBeEmpty: true, summary: "With --afk 1: away or quiet." },
    { name: "x-mode", ...YES_OR_NO, summary: "Whether the relay is polled." },
    { name: "queue-pending", ...YES_OR_NO, summary: "Whether wakes wait to be drained." },
  ],
  details: [
    "What no flag says is looked up: the harness by its environment and ancestors, away mode in " +
    "state/.afk, waiting wakes in the queue, FM_GUARD_READ_ONLY. The words 1, true, TRUE, yes and " +
    "YES are yes; every other value is no. Relay polling counts as soon as config/x-mode.env exists.",
  ],
  startsPrograms: true,
  run: instructions,
};

async function instructions(call: Call): Promise<ExitStatus> {
  const situation = await situationOf(call);
  const lines = hasFlag(call, "repair-line")
    ? [repairInstruction(situation)]
    : instructionBlock(situation);
  await say(lines.map(printable));
  return EXIT.ok;
}

async function situationOf(call: Call): Promise<InstructionSituation> {
  const { environment } = call;
  const home = personHome(call);
  const processes = systemProcesses(environment);
  const settings = relaySettings(home);
  return {
    harness: namedHarness(flagValue(call, "harness")) ??
      await harnessAround(environment, processes),
    mode: modeOf(call, home),
    relaySettings: given(call, "x-mode") === true ? relayPath(home) : settings,
    checkpointSeconds: checkpointSeconds(environment),
    commands: homeCommands(home),
    readOnly: given(call, "read-only") ?? isYes(environment.get("FM_GUARD_READ_ONLY")),
    queuePending: given(call, "queue-pending") ??
      (await observeWakeBacklog(home.state, environment, processes)).pending > 0,
  };
}

/** What the flag `name` says; `undefined` when it was not given. */
function given(call: Call, name: string): boolean | undefined {
  return hasFlag(call, name) ? isYes(flagValue(call, name)) : undefined;
}

function modeOf(call: Call, home: Home): InstructionSituation["mode"] {
  const on = given(call, "afk");
  if (on === undefined) return observeAwayMode(home.state);
  if (!on) return "off";
  return flagValue(call, "afk-mode") === "quiet" ? "quiet" : "away";
}

/** Harnesses that have words of their own; all others are `unknown` to these texts. */
const NAMED_HARNESSES: readonly HarnessName[] = [
  "claude",
  "codex",
  "pi",
  "pi-signed",
  "omp",
  "opencode",
  "grok",
  "cursor",
];

function namedHarness(name: string | undefined): HarnessName | undefined {
  if (name === undefined || name === "") return undefined;
  return NAMED_HARNESSES.find((known) => known === name) ?? "unknown";
}

/** The harness that this process works for. */
export async function harnessAround(
  environment: Environment,
  processes: Processes,
): Promise<HarnessName> {
  return await detectHarness(environment, {
    nearest: parentPid(),
    info: (pid) => processes.info(pid),
  });
}

/** Whether the text of a switch means yes. */
export function isYes(text: string | undefined): boolean {
  return ["1", "true", "TRUE", "yes", "YES"].some((word) => word === text);
}

/** The relay's settings file where there is one. */
export function relaySettings(home: Home): string | undefined {
  const path = relayPath(home);
  return targetKind(path) === "file" ? path : undefined;
}

function relayPath(home: Home): string {
  return `${home.config}/x-mode.env`;
}

/** Seconds of a Codex checkpoint when nothing is set. */
const DEFAULT_CHECKPOINT_SECONDS = 180;

/** Seconds of a Codex checkpoint. */
export function checkpointSeconds(environment: Environment): number {
  const text = environment.get("FM_CODEX_WATCH_CHECKPOINT");
  return numberSetting(text, "positive-digits", DEFAULT_CHECKPOINT_SECONDS).value;
}
