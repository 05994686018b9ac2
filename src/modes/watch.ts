/** `watch`: keep watch over a home until there is something to tell. */

import { writeTo } from "../platform/output.ts";
import { targetKind } from "../platform/path_kind.ts";
import { printable } from "../platform/printable.ts";
import { systemProcesses } from "../platform/processes.ts";
import { firstStopSignal } from "../platform/stop_signal.ts";
import { runWatcher } from "../watch/watcher.ts";
import { endReport, startReport } from "../watch/watcher_report.ts";
import { personHome } from "./call_home.ts";
import { type Call, EXIT, type ExitStatus, type ModeSpec } from "./mode.ts";

/** The mode. */
export const watchMode: ModeSpec = {
  name: "watch",
  kind: "person",
  summary: "Watch a home until something in it needs a turn.",
  flags: [{ name: "root", value: "DIR", summary: "Root of the home." }],
  details: [
    "Holds the home's watch lock and beats once a cycle. It ends with the first thing that has to be " +
    "told: a task's report (its .status or .turn-ended file), the output of a check, a result of a " +
    "process-event source, a due heartbeat, or a stretch without a watcher. That is queued first and " +
    "then printed, one reason a life.",
    "One watcher a home: a second one says who watches already and ends with status 0. One that has " +
    "not beaten for FM_WATCHER_STALL_BOUND seconds is asked to end and replaced.",
    "FM_POLL sets the seconds between beats (15), FM_SIGNAL_GRACE how long a report is waited upon " +
    "for others of the same turn (30), FM_CHECK_INTERVAL the seconds between sweeps (300), " +
    "FM_HEARTBEAT and FM_HEARTBEAT_MAX those between heartbeats (600, 7200).",
  ],
  startsPrograms: true,
  run: watch,
};

async function watch(call: Call): Promise<ExitStatus> {
  const home = personHome(call);
  if (targetKind(home.state) !== "directory") {
    await writeTo(
      "stderr",
      `watcher: ${printable(home.state)} is not a directory; nothing was changed; ` +
        "run turnguard init, or name the home with --root\n",
    );
    return EXIT.failure;
  }
  const signal = firstStopSignal();
  const end = await runWatcher({
    home,
    environment: call.environment,
    look: () => systemProcesses(call.environment),
    stop: signal.then(() => undefined),
    started: (start) => {
      void writeTo("stdout", startReport(start));
      // Who started it by hand sees that it works; scripts read what it prints, so they do not.
      if (Deno.stderr.isTerminal()) {
        void writeTo("stderr", `watching ${printable(home.home)}; Ctrl-C ends it\n`);
      }
    },
    tell: (reason) => writeTo("stdout", `${reason}\n`),
  });
  const report = endReport(end);
  await writeTo("stdout", report.stdout);
  await writeTo("stderr", report.stderr);
  return end.kind === "stopped" ? (await signal).status : report.status;
}
