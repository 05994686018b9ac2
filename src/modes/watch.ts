/** `watch`: keep watch over a home until told to stop. */

import { writeTo } from "../platform/output.ts";
import { systemProcesses } from "../platform/processes.ts";
import { firstStopSignal } from "../platform/stop_signal.ts";
import { printable } from "../platform/printable.ts";
import { targetKind } from "../platform/path_kind.ts";
import { runWatcher, type WatcherEnd } from "../watch/watcher.ts";
import { personHome } from "./call_home.ts";
import { type Call, EXIT, type ExitStatus, type ModeSpec } from "./mode.ts";

/** The mode. */
export const watchMode: ModeSpec = {
  name: "watch",
  kind: "person",
  summary: "Watch a home: hold its watch lock and beat once a cycle.",
  flags: [{ name: "root", value: "DIR", summary: "Root of the home." }],
  details: [
    "Runs until a task reports (its .status or .turn-ended file changes) or a check has output, " +
    "which it queues and prints, or until SIGTERM, SIGINT or SIGHUP. One watcher a home: a second one says who watches " +
    "already and ends with status 0.",
    "FM_POLL sets the seconds between beats (15).",
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
    processes: systemProcesses(call.environment),
    stop: signal.then(() => undefined),
    started: () => void writeTo("stdout", `watcher: started pid=${Deno.pid} (beacon fresh)\n`),
  });
  const report = describeEnd(end);
  await writeTo(report.stream, report.text);
  return end.kind === "stopped" ? (await signal).status : report.status;
}

interface EndReport {
  readonly stream: "stdout" | "stderr";
  readonly text: string;
  readonly status: ExitStatus;
}

/** Wording that scripts around the watcher look for. */
function describeEnd(end: WatcherEnd): EndReport {
  switch (end.kind) {
    case "already-running": {
      const pid = end.pid === undefined ? "" : ` pid ${end.pid}`;
      return { stream: "stdout", text: `watcher: already running${pid}\n`, status: EXIT.ok };
    }
    case "holder-stale":
      return {
        stream: "stderr",
        text: `watcher: lock held by live pid ${end.pid} but ${staleness(end)}; ` +
          "inspect or stop that watcher before re-arming.\n",
        status: EXIT.failure,
      };
    case "lost-lock":
      return { stream: "stdout", text: "", status: EXIT.ok };
    case "home-gone":
      return {
        stream: "stderr",
        text: `watcher: ${printable(end.what)} is gone; nothing was recreated\n`,
        status: EXIT.failure,
      };
    case "wake":
      return { stream: "stdout", text: `${end.reason}\n`, status: EXIT.ok };
    case "not-queued":
      return {
        stream: "stderr",
        text: "watcher: a wake could not be queued; nothing was marked as reported\n",
        status: EXIT.failure,
      };
    case "failed":
      return {
        stream: "stderr",
        text: `watcher: ${printable(end.because)}; not watching beside it\n`,
        status: EXIT.failure,
      };
    case "stopped":
      return {
        stream: "stderr",
        text: end.released
          ? ""
          : "watcher: recovery state could not be persisted; retaining stale lock evidence\n",
        status: EXIT.ok,
      };
  }
}

function staleness(end: Extract<WatcherEnd, { kind: "holder-stale" }>): string {
  return end.ageSeconds === undefined
    ? "no heartbeat exists"
    : `heartbeat is stale for ${end.ageSeconds}s (>${end.graceSeconds}s)`;
}
