/** `checkpoint`: watch a home in the foreground, for a while. */

import { writeTo } from "../platform/output.ts";
import { targetKind } from "../platform/path_kind.ts";
import { printable } from "../platform/printable.ts";
import { systemProcesses } from "../platform/processes.ts";
import { firstStopSignal } from "../platform/stop_signal.ts";
import { runCheckpoint } from "../watch/checkpoint.ts";
import { personHome } from "./call_home.ts";
import { checkpointSeconds } from "./instructions.ts";
import { type Call, EXIT, type ExitStatus, flagValue, type ModeSpec } from "./mode.ts";
import { complainUsage } from "./person_output.ts";

/** Exit status of a checkpoint that ended without a wake, that of the `timeout` program. */
const TIMED_OUT = 124;

/** The longest checkpoint; a longer timer would overflow and end at once. */
const LONGEST_SECONDS = 2_147_483;

/** The mode. */
export const checkpointMode: ModeSpec = {
  name: "checkpoint",
  kind: "person",
  summary: "Watch a home in the foreground, for a while.",
  flags: [
    { name: "root", value: "DIR", summary: "Root of the home." },
    {
      name: "seconds",
      value: "N",
      summary: "How long, 1 to 2147483; else FM_CODEX_WATCH_CHECKPOINT, else 180.",
    },
  ],
  details: [
    "For a session that cannot leave a background task behind. Status 0 comes with a wake's line, " +
    "124 means that nothing came up in that time, and 1 that somebody else watches the home or " +
    "that the watcher failed.",
  ],
  startsPrograms: true,
  run: checkpoint,
};

async function checkpoint(call: Call): Promise<ExitStatus> {
  const signal = firstStopSignal();
  const { environment } = call;
  const text = flagValue(call, "seconds");
  const seconds = text === undefined
    ? Math.min(checkpointSeconds(environment), LONGEST_SECONDS)
    : wholeSeconds(text);
  if (seconds === undefined) {
    return await complainUsage("checkpoint", `--seconds takes 1 to ${LONGEST_SECONDS}`);
  }
  const home = personHome(call);
  if (targetKind(home.state) !== "directory") {
    await writeTo(
      "stderr",
      `checkpoint: ${printable(home.state)} is not a directory; nothing was changed; ` +
        "run turnguard init, or name the home with --root\n",
    );
    return EXIT.failure;
  }
  const end = await runCheckpoint({
    home,
    environment,
    look: () => systemProcesses(environment),
    limitMs: seconds * 1000,
    stop: signal.then(() => undefined),
    print: (line) => writeTo("stdout", line),
  });
  switch (end.kind) {
    case "wake": {
      const told = await writeTo("stdout", end.stdout);
      await writeTo("stderr", end.stderr);
      return told === "written" ? EXIT.ok : EXIT.failure;
    }
    case "already-running":
      await writeTo("stdout", end.stdout);
      await writeTo(
        "stderr",
        `${end.stderr}checkpoint: watcher is already running outside this foreground checkpoint\n`,
      );
      return EXIT.failure;
    case "deadline":
      await writeTo("stdout", `checkpoint: no actionable wake within ${seconds}s\n`);
      return TIMED_OUT;
    case "stopped":
      return (await signal).status;
    case "other":
      await writeTo("stdout", end.stdout);
      await writeTo("stderr", end.stderr);
      return end.status;
  }
}

function wholeSeconds(text: string): number | undefined {
  const seconds = /^0*[1-9][0-9]{0,6}$/.test(text) ? Number(text) : undefined;
  return seconds !== undefined && seconds <= LONGEST_SECONDS ? seconds : undefined;
}
