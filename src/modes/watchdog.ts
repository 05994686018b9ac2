/** `watchdog`: ends a session that is really idle, and only that. */

import type { Call, ExitStatus, FlagSpec, ModeSpec } from "./mode.ts";
import { listSessions, showStatus } from "./watchdog/list.ts";
import { runWatchdog } from "./watchdog/run.ts";

const LIMITS: readonly FlagSpec[] = [
  { name: "idle-timeout", value: "D", summary: "End after D without progress (600; 0: never)." },
  { name: "poll", value: "D", summary: "Longest time between two looks (30)." },
  {
    name: "wall-timeout",
    value: "D",
    summary: "End after D in any case (14400; with --pid: never).",
  },
  { name: "grace", value: "D", summary: "From the first signal to KILL (10)." },
  {
    name: "signal",
    value: "NAME",
    summary: "The first signal.",
    choices: ["TERM", "INT", "HUP", "QUIT"],
  },
  { name: "startup-grace", value: "D", summary: "Added until the first progress (120)." },
  {
    name: "no-signal",
    value: "WORD",
    summary: "When no progress was ever seen: hold or kill (hold).",
    choices: ["hold", "kill"],
  },
  { name: "post-stop-timeout", value: "D", summary: "Idle limit after the turn's end." },
];

const EVIDENCE: readonly FlagSpec[] = [
  { name: "activity", value: "FILE", summary: "The activity file to use." },
  { name: "session", value: "ID", summary: "The session whose file to use." },
  { name: "run", value: "ID", summary: "status: the run whose file to use." },
  {
    name: "progress",
    value: "LIST",
    summary: "activity, transcript, output, file:/PATH, with commas.",
  },
  {
    name: "hold",
    value: "LIST",
    summary: "subagents, tools, human, crons, shells, supervised, or none.",
  },
  {
    name: "waiting",
    value: "WORD",
    summary: "A session that waits for a person: auto, hold or count.",
    choices: ["auto", "hold", "count"],
  },
  {
    name: "subagent-max-silence",
    value: "D",
    summary: "Silence that ends a subagent's hold (3600).",
  },
  { name: "subagent-max-age", value: "D", summary: "Age that ends a silent one's (10800)." },
  { name: "tool-max", value: "D", summary: "Age that ends another call's hold (1200)." },
  { name: "hold-max", value: "LIST", summary: "NAME=D: longest hold of a kind, with commas." },
];

const RESULTS: readonly FlagSpec[] = [
  {
    name: "sweep",
    value: "WORD",
    summary: "What is ended: tree, group or marked (tree).",
    choices: ["tree", "group", "marked"],
  },
  { name: "marker", value: "FILE", summary: "Where the reason is written." },
  { name: "kill-marker", value: "FILE", summary: "Made only when it was ended for idle or wall." },
  { name: "idle-exit-code", value: "N", summary: "Status after an idle kill (123)." },
  { name: "wall-exit-code", value: "N", summary: "Status after a wall kill (124)." },
  { name: "preserve-status", summary: "The command's own status, also after a kill." },
  {
    name: "summary-json",
    value: "FILE",
    summary: "Everything as one object; - is standard error.",
  },
  { name: "log", value: "FILE", summary: "A line of JSON for every decision." },
  { name: "quiet", summary: "Nothing on standard error." },
  { name: "dry-run", summary: "Decide and tell, end nothing." },
  { name: "classic", summary: "A bare counter of subagents holds, and nothing else." },
];

const WAYS: readonly FlagSpec[] = [
  { name: "pid", value: "PID", summary: "Watch a process that runs already." },
  { name: "pgid", value: "PID", summary: "The same, for the group that it leads." },
  { name: "foreground", summary: "Keep the command in the terminal's session." },
  { name: "no-foreground", summary: "Give it a session of its own, also in a terminal." },
  { name: "detach", summary: "With --pid: go on in the background, print the pid." },
  { name: "force", summary: "Watch what another watchdog watches." },
  { name: "json", summary: "list, status: JSON." },
  { name: "all", summary: "list: what is long over, too." },
  { name: "prune", summary: "list: remove the files of what is long over." },
  { name: "watch", summary: "list: a view that stays." },
  { name: "dir", value: "DIR", summary: "list: a further folder." },
  { name: "check", summary: "status: tell by the exit status." },
];

/** The mode. */
export const watchdogMode: ModeSpec = {
  name: "watchdog",
  kind: "person",
  summary: "Run an agent, and end it when it is really idle.",
  operands: "[list | status]",
  maximumOperands: 1,
  flags: [...LIMITS, ...EVIDENCE, ...RESULTS, ...WAYS],
  details: [
    'turnguard watchdog -- claude -p "…" runs a command; turnguard watchdog --pid PID watches one ' +
    "that runs. It ends it when nothing has happened for the idle timeout and nothing is in " +
    "flight: no subagent, no call, no question to a person at the terminal, no scheduled wake. " +
    "Register the activity hook first: turnguard install claude --activity. Without any sign of " +
    "progress nothing is ended for idleness.",
    "D is a number of seconds, or one with s, m, h or d; 0 switches a limit off. An option wins " +
    "over its variable (help environment).",
    "The command leads a session of its own, so that its end never takes the watchdog along. In a " +
    "terminal it stays in the foreground, where a full-screen program works. With --progress " +
    "output its output passes through here, and it sees no terminal.",
    "list shows every session and when it would be ended; status shows one.",
  ],
  tables: [{
    heading: "Exit statuses:",
    rows: [
      ["0-255", "the command's own"],
      ["123", "ended for idleness"],
      ["124", "ended by the wall clock"],
      ["125", "the watchdog failed, or refused"],
      ["126", "the command cannot be started"],
      ["127", "the command was not found"],
      ["128+N", "the command died from signal N"],
      ["0 1 2 3", "status --check: busy, idle too long, over, nothing known"],
    ],
  }],
  startsPrograms: true,
  usageStatus: 125,
  run,
};

async function run(call: Call): Promise<ExitStatus> {
  const [operand] = call.operands;
  if (operand === "list") return await listSessions(call);
  if (operand === "status") return await showStatus(call);
  return await runWatchdog(call);
}
