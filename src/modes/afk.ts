/** `afk`: away and quiet mode, on, off, and the way back. */

import { shouldExit } from "../decide/daemon_wake.ts";
import { observeAwayMode } from "../observe/daemon.ts";
import type { Home } from "../observe/home.ts";
import { targetKind } from "../platform/path_kind.ts";
import { writeTo } from "../platform/output.ts";
import { printable } from "../platform/printable.ts";
import { type Processes, systemProcesses } from "../platform/processes.ts";
import { readStandardInput } from "../platform/stdin.ts";
import { firstStopSignal } from "../platform/stop_signal.ts";
import { AWAY_FLAG_NAME, writeAwayFlag } from "../state/away_flag.ts";
import { escalationAge, readEscalations } from "../state/escalations.ts";
import { gateExists, readGate, type ReturnGate } from "../state/return_gate.ts";
import { WEDGED_NAME } from "../watch/daemon/delivery.ts";
import { findDaemon } from "../watch/daemon/find_daemon.ts";
import { comeBack } from "../watch/daemon/return_gate.ts";
import { stopAway } from "../watch/daemon/stop_away.ts";
import { personHome } from "./call_home.ts";
import { superviseAway } from "./daemon_mode.ts";
import { type Call, EXIT, type ExitStatus, hasFlag, type ModeSpec } from "./mode.ts";
import { ageInWords, complain, complainUsage, counted, say, sayJson } from "./person_output.ts";
import { drainCommand } from "./warn.ts";

/** The mode. */
export const afkMode: ModeSpec = {
  name: "afk",
  kind: "person",
  summary: "Away and quiet mode: on, off, status, and the way back.",
  operands: "on | off | status | return [begin|check|guard] | should-exit",
  maximumOperands: 2,
  flags: [
    { name: "root", value: "DIR", summary: "Root of the home." },
    { name: "quiet", summary: "For on: the operator is there and wants quiet." },
    { name: "json", summary: "For status: print one JSON object." },
  ],
  details: [
    "on turns the mode on and becomes its daemon, in the foreground: run it as a background task of " +
    "the session. A daemon that runs already goes on, with the mode that was named. off stops the " +
    "daemon and then turns the mode off. start and stop are the same words.",
    "return stops the mode, tells what happened meanwhile, and ends with status 3 while something " +
    "waits for a decision; return check tries again, return guard only tells whether it may go on. " +
    "should-exit reads an operator's message and ends with 0 when it ends the mode, with 1 otherwise.",
  ],
  startsPrograms: true,
  run: afk,
};

/** Status of a return that something stands in the way of. */
const NOT_YET = 3;

async function afk(call: Call): Promise<ExitStatus> {
  const [word, step] = call.operands;
  const home = personHome(call);
  const look = (): Processes => systemProcesses(call.environment);
  if (step !== undefined && word !== "return") {
    return await complainUsage(afkMode.name, `${word} takes no further word`);
  }
  switch (word) {
    case "on":
    case "start":
      return await turnOn(call, home, look);
    case "off":
    case "stop":
      return await turnOff(home, look);
    case "status":
      return await status(call, home, look);
    case "return":
      return await goBack(call, home, look, step ?? "begin");
    case "should-exit":
      return await tellWhetherToExit(home);
    default:
      return await complainUsage(
        afkMode.name,
        "name one of: on, off, status, return, should-exit",
      );
  }
}

async function turnOn(call: Call, home: Home, look: () => Processes): Promise<ExitStatus> {
  const { state } = home;
  if (gateExists(state)) {
    return await complain({
      mode: afkMode.name,
      wrong: "the last return has not been finished",
      untouched: "the mode is as it was",
      todo: "run turnguard afk return check until it ends with status 0",
    });
  }
  const stop = firstStopSignal();
  const mode = hasFlag(call, "quiet") ? "quiet" : "away";
  const prepared = call.environment.get("FM_AFK_STATE_PREPARED") === "1";
  const found = await findDaemon(state, look());
  if (found.kind === "running") {
    if (await writeAwayFlag(state, mode) === "failed") return await flagFailed();
    await say([`afk: daemon already running pid=${found.pid}`]);
    return EXIT.ok;
  }
  if (prepared && targetKind(`${state}/${AWAY_FLAG_NAME}`) === "absent") {
    await writeTo("stderr", "afk: launcher-prepared state is missing\n");
    return EXIT.failure;
  }
  if (!prepared && await writeAwayFlag(state, mode) === "failed") return await flagFailed();
  await say([
    "afk: starting supervise daemon in foreground; " +
    "keep this command as a tracked background session",
  ]);
  return await superviseAway(call, { anew: !prepared, stop });
}

async function flagFailed(): Promise<ExitStatus> {
  await writeTo("stderr", "afk: failed to write away-mode flag\n");
  return EXIT.failure;
}

async function turnOff(home: Home, look: () => Processes): Promise<ExitStatus> {
  const stopped = await stopAway(home.state, look);
  switch (stopped.kind) {
    case "off":
      await say([
        stopped.daemon === undefined
          ? "afk: off; no daemon was running"
          : `afk: off; stopped daemon pid=${stopped.daemon}`,
      ]);
      return EXIT.ok;
    case "did-not-stop":
      return await complain({
        mode: afkMode.name,
        wrong: `the daemon (pid ${stopped.pid}) did not stop`,
        untouched: "the mode stays on",
        todo: "look at that process and at state/.supervise-daemon.log, then try again",
      });
    case "flag-stays":
      return await complain({
        mode: afkMode.name,
        wrong: `${printable(home.state)}/${AWAY_FLAG_NAME} cannot be removed`,
        untouched: "the daemon is stopped, the mode stays on",
        todo: "remove it, then try again",
      });
  }
}

async function status(call: Call, home: Home, look: () => Processes): Promise<ExitStatus> {
  const { state } = home;
  const mode = observeAwayMode(state);
  const daemon = await findDaemon(state, look());
  const buffer = readEscalations(state);
  const items = buffer.kind === "read" ? buffer.items.length : undefined;
  const age = escalationAge(state);
  const known = age !== undefined && Number.isFinite(age) ? age : undefined;
  const wedged = targetKind(`${state}/${WEDGED_NAME}`) !== "absent";
  const returning = gateExists(state);
  if (hasFlag(call, "json")) {
    await sayJson({
      mode,
      daemon: daemon.kind,
      pid: "pid" in daemon ? daemon.pid : null,
      items: items ?? null,
      oldestItemSeconds: known ?? null,
      wedged,
      returning,
    });
    return EXIT.ok;
  }
  const waiting = known === undefined ? "" : `, the first for ${ageInWords(known)}`;
  const digest = buffer.kind === "read"
    ? `${counted(buffer.items.length, "item")}${waiting}`
    : `cannot be read: ${printable(buffer.because)}`;
  await say([
    `mode    ${mode}`,
    `daemon  ${inWords(daemon)}`,
    `digest  ${digest}${wedged ? "; cannot be delivered" : ""}`,
    ...(returning ? ["return  not finished; run turnguard afk return check"] : []),
  ]);
  return EXIT.ok;
}

function inWords(daemon: Awaited<ReturnType<typeof findDaemon>>): string {
  switch (daemon.kind) {
    case "running":
      return `running, pid ${daemon.pid}`;
    case "none":
      return "not running";
    case "ended":
      return "not running; its process has ended and was not waited for";
    case "reused":
      return "not running; its lock names another process";
    case "unknown":
      return `cannot be told; pid ${daemon.pid} holds its lock`;
  }
}

async function goBack(
  call: Call,
  home: Home,
  look: () => Processes,
  step: string,
): Promise<ExitStatus> {
  switch (step) {
    case "guard":
      return await guardReturn(home);
    case "begin":
    case "check":
      break;
    default:
      return await complainUsage(afkMode.name, "return takes one of: begin, check, guard");
  }
  const back = await comeBack({
    home,
    environment: call.environment,
    look,
    tell: (gate) => writeTo("stdout", lines(evidenceOf(gate))),
  });
  switch (back.kind) {
    case "busy":
      return await complain({
        mode: afkMode.name,
        wrong: "another return is under way",
        untouched: "nothing was changed",
        todo: "try again in a moment",
      });
    case "blocked":
      await writeTo("stderr", lines([...evidenceOf(back.gate), ...blockersOf(back.gate)]));
      return NOT_YET;
    case "not-told":
      return await complain({
        mode: afkMode.name,
        wrong: "standard output did not take what happened meanwhile",
        untouched: "all of it is kept",
        todo: "run turnguard afk return check",
      });
    case "open":
      if (back.handling !== undefined) {
        const { through, generation } = back.handling;
        await writeTo(
          "stderr",
          `WAKE_ACK_REQUIRED: after handling completes run ${drainCommand(home)} ` +
            `--ack-through ${through} --recovery-generation ${generation}\n`,
        );
      }
      return EXIT.ok;
  }
}

/** Whether work may go on; changes nothing. */
async function guardReturn({ state }: Home): Promise<ExitStatus> {
  if (targetKind(`${state}/${AWAY_FLAG_NAME}`) !== "absent") {
    await writeTo("stderr", "afk: the mode is still on; run turnguard afk return\n");
    return NOT_YET;
  }
  if (!gateExists(state)) return EXIT.ok;
  await writeTo(
    "stderr",
    lines(["afk: the return is not finished", ...blockersOf(readGate(state))]),
  );
  return NOT_YET;
}

function evidenceOf({ evidence }: ReturnGate): readonly string[] {
  return evidence.map(({ kind, text }) => `${kind}: ${printable(text)}`);
}

function blockersOf({ blockers }: ReturnGate): readonly string[] {
  return blockers.map(({ task, key, summary }) =>
    `blocked: ${printable(task)} [${printable(key)}]: ${printable(summary)}`
  );
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join("");
}

/** Reads an operator's message. */
async function tellWhetherToExit({ state }: Home): Promise<ExitStatus> {
  const input = await readStandardInput(() => false);
  const message = input.kind === "bytes" ? new TextDecoder().decode(input.bytes) : "";
  return shouldExit(observeAwayMode(state), message) ? EXIT.ok : EXIT.failure;
}
