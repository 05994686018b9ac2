/** `deadman`: a check of the home by the machine's own scheduler, which tells when nobody watches. */

import { BACKEND_NAMES } from "../watch/deadman/record.ts";
import { NOTIFY_LIMIT_SECONDS } from "../watch/deadman/notify.ts";
import { install, uninstall } from "./deadman/install.ts";
import { run } from "./deadman/run.ts";
import { status } from "./deadman/status.ts";
import { SPANS } from "./deadman/timing.ts";
import { type Call, type ExitStatus, hasFlag, type ModeSpec } from "./mode.ts";
import { complainUsage } from "./person_output.ts";

/** The mode. */
export const deadmanMode: ModeSpec = {
  name: "deadman",
  kind: "person",
  summary: "Check a home out of band, and run a command when nobody watches it.",
  operands: "install | uninstall | status | run",
  maximumOperands: 1,
  flags: [
    { name: "root", value: "DIR", summary: "Root of the home." },
    {
      name: "interval",
      value: "SECONDS",
      summary: `With install: between two samples (${SPANS.interval.usual}).`,
    },
    {
      name: "cooldown",
      value: "SECONDS",
      summary: `With install: least time between two alarms (${SPANS.cooldown.usual}).`,
    },
    {
      name: "boot-grace",
      value: "SECONDS",
      summary: `With install: uptime before anything is judged (${SPANS["boot-grace"].usual}).`,
    },
    {
      name: "backend",
      value: "NAME",
      choices: BACKEND_NAMES,
      summary: `With install: ${BACKEND_NAMES.join(", ")}, instead of what is found.`,
    },
    { name: "executable", value: "PATH", summary: "With install: path of turnguard to register." },
    { name: "dry-run", summary: "With install: show what would be written." },
    { name: "json", summary: "With status: print one JSON object." },
    { name: "record", value: "FILE", summary: "With run: the record that install wrote." },
  ],
  details: [
    "Off unless it is installed: turnguard deadman install --root DIR -- COMMAND [ARGS]. A systemd " +
    "user timer, a launchd agent or a crontab line, whichever the host has, then takes a sample of " +
    "the home every --interval seconds, independently of any turn. With --backend none nothing is " +
    "registered, and the line to run is shown.",
    "A sample judges need, watcher and daemon as a turn's end does. Two unhealthy ones in a row " +
    "start COMMAND, at most once per cooldown: without a shell, with the message as its last " +
    `argument and on its standard input, for at most ${NOTIFY_LIMIT_SECONDS} s, after which its ` +
    "process group is ended. One that fails is tried again at the next sample. After boot nothing " +
    "is judged for a while; after sleep, or when the clock went back, two samples are needed anew. " +
    "What cannot be judged does not count.",
    "The home is never changed. The command and what was seen are kept in " +
    "${XDG_STATE_HOME:-~/.local/state}/turnguard/deadman, mode 600. FM_ variables that decide how " +
    "a home is judged are recorded by install; after a change install again.",
    "run takes one sample and is silent when there is nothing to say. It ends with 0 (healthy, in " +
    "grace, or unhealthy once), 1 (unhealthy in a row, or failed) or 3 (not determined). status " +
    "ends with 0 whatever it shows.",
    "status --json prints root, home, record and installed; where it is installed also backend, " +
    "schedule {kind, because}, intervalSeconds, cooldownSeconds, bootGraceSeconds, notify {program, " +
    "arguments}, sample {kind, because, atSeconds, ageSeconds}, overdue, streak, alarm, " +
    "toldAtSeconds, attempt {atSeconds, outcome, because} and nextAlarmAtSeconds.",
  ],
  startsPrograms: true,
  run: deadman,
};

/** Each action with the flags that belong to it, besides `--root`. */
const ACTIONS: Readonly<
  Record<string, readonly [(call: Call) => Promise<ExitStatus>, readonly string[]]>
> = {
  install: [install, ["interval", "cooldown", "boot-grace", "backend", "executable", "dry-run"]],
  uninstall: [uninstall, []],
  status: [status, ["json"]],
  run: [run, ["record"]],
};

async function deadman(call: Call): Promise<ExitStatus> {
  const [name = ""] = call.operands;
  const found = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (found === undefined) {
    return await complainUsage("deadman", `say what to do: ${Object.keys(ACTIONS).join(", ")}`);
  }
  const [act, flags] = found;
  const misplaced = deadmanMode.flags.find((flag) =>
    flag.name !== "root" && hasFlag(call, flag.name) && !flags.includes(flag.name)
  );
  if (misplaced !== undefined) {
    return await complainUsage("deadman", `--${misplaced.name} does not belong to ${name}`);
  }
  if (call.rest.length > 0 && name !== "install") {
    return await complainUsage("deadman", "a command after -- belongs to install");
  }
  return await act(call);
}
