/** `daemon`: supervise a home while its operator is away or wants quiet. */

import { writeTo } from "../platform/output.ts";
import { targetKind } from "../platform/path_kind.ts";
import { printable } from "../platform/printable.ts";
import { systemProcesses } from "../platform/processes.ts";
import { firstStopSignal } from "../platform/stop_signal.ts";
import { daemonLockPath } from "../observe/daemon.ts";
import { type DaemonSetup, runDaemon } from "../watch/daemon/daemon.ts";
import { personHome } from "./call_home.ts";
import { type Call, EXIT, type ExitStatus, type ModeSpec } from "./mode.ts";
import { complain } from "./person_output.ts";

/** The mode. */
export const daemonMode: ModeSpec = {
  name: "daemon",
  kind: "person",
  summary: "Supervise a home in away or quiet mode.",
  flags: [{ name: "root", value: "DIR", summary: "Root of the home." }],
  details: [
    "Runs one watcher after the other, handles every wake itself, and hands the session only a digest " +
    "of what needs a decision. It stays in the foreground until SIGTERM, SIGINT or SIGHUP; run it as " +
    "a background task of the session, never with a shell's &. turnguard afk on turns the mode on and " +
    "becomes this daemon.",
    "TURNGUARD_DELIVER names the program that hands a digest over: called with the word probe (0: " +
    "somebody is there), then with deliver and the message on standard input (0: taken). Without it " +
    "nothing is delivered and the digest waits for the return.",
    "FM_ESCALATE_BATCH_SECS is how long an item waits for others (90), FM_MAX_DEFER_SECS when somebody " +
    "is alarmed (300), by config/wedge-alarm or FM_WEDGE_ALARM_CHANNEL. What it does is logged in " +
    "state/.supervise-daemon.log.",
  ],
  startsPrograms: true,
  run: daemon,
};

async function daemon(call: Call): Promise<ExitStatus> {
  return await superviseAway(call, { anew: false, stop: firstStopSignal() });
}

/** Is the daemon of the call's home until a stop signal comes. */
export async function superviseAway(
  call: Call,
  how: Pick<DaemonSetup, "anew" | "stop">,
): Promise<ExitStatus> {
  const home = personHome(call);
  const { environment } = call;
  if (targetKind(home.state) !== "directory") {
    return await complain({
      mode: "daemon",
      wrong: `${printable(home.state)} is not a directory`,
      untouched: "nothing was changed",
      todo: "run turnguard init, or name the home with --root",
    });
  }
  const end = await runDaemon({
    home,
    environment,
    look: () => systemProcesses(environment),
    ...how,
  });
  switch (end.kind) {
    case "stopped":
      return EXIT.ok;
    case "already-running": {
      const pid = end.pid === undefined ? "" : `pid ${end.pid}, `;
      await writeTo(
        "stderr",
        `error: another fm-supervise-daemon is already running (${pid}lock ` +
          `${printable(daemonLockPath(home.state))} held)\n`,
      );
      return EXIT.failure;
    }
    case "lost-lock":
      return await complain({
        mode: "daemon",
        wrong: `${printable(daemonLockPath(home.state))} is no longer this daemon's`,
        untouched: "what is buffered stays in that folder",
        todo: "see who supervises with: turnguard afk status",
      });
    case "no-program":
      return await complain({
        mode: "daemon",
        wrong: `TURNGUARD_DELIVER names ${printable(end.path)}, which cannot be executed`,
        untouched: "the mode and what is buffered are as they were",
        todo: "make it executable or name another program, then start the daemon again",
      });
  }
}
