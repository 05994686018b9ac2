/** `arm`: keep a session's home watched, by whoever watches already or by a watcher of its own. */

import { beginHandling } from "../act/recovery.ts";
import type { Home } from "../observe/home.ts";
import { writeTo } from "../platform/output.ts";
import { targetKind } from "../platform/path_kind.ts";
import { parsePid } from "../platform/pid.ts";
import { printable } from "../platform/printable.ts";
import { type Processes, systemProcesses } from "../platform/processes.ts";
import { firstStopSignal } from "../platform/stop_signal.ts";
import { NO_WATCHER } from "../watch/arm_lines.ts";
import { type ArmStart, runArm } from "../watch/arm/arm.ts";
import { stopWatcher } from "../watch/arm/stop_watcher.ts";
import { isProvenHolder } from "../watch/takeover.ts";
import { personHome } from "./call_home.ts";
import { type Call, EXIT, type ExitStatus, flagValue, hasFlag, type ModeSpec } from "./mode.ts";
import { complainUsage, say } from "./person_output.ts";

/** The mode. */
export const armMode: ModeSpec = {
  name: "arm",
  kind: "person",
  summary: "Keep a session's home watched until it needs a turn.",
  operands: "[arm]",
  maximumOperands: 1,
  flags: [
    { name: "root", value: "DIR", summary: "Root of the home." },
    { name: "arm", summary: "Attach to a healthy watcher or start one; the default." },
    { name: "restart", summary: "Stop this home's watcher first." },
    { name: "stop", summary: "Stop this home's watcher, and start none." },
    {
      name: "handling-delivered",
      value: "GENERATION",
      summary: "Confirm that the wake of that stretch reached the session.",
    },
    {
      name: "watcher-pid",
      value: "PID",
      summary: "With --handling-delivered: the watcher that continues.",
    },
  ],
  details: [
    "Attaches to the home's healthy watcher, or watches itself, and stays in the foreground until " +
    "there is something to tell: status 0, with the wake's line. Every other end is a line that " +
    'begins "watcher: FAILED" and a status other than 0. Run it as a background task of the session, ' +
    "never with a shell's &.",
    "A home that brings its own bin/fm-watch.sh has that run as a child. FM_ARM_CONFIRM_TIMEOUT is " +
    "how many seconds a watcher may take until it beats (10), FM_ARM_ATTACH_POLL how often an " +
    "attached one is looked at (0.5), FM_GUARD_GRACE how old a beat may be (300).",
    "How each watch ended is kept in state/.watch-cycle-exits.log.",
  ],
  startsPrograms: true,
  run: arm,
};

/** Status of a confirmation that speaks of a stretch of downtime which is not the current one. */
const OTHER_GENERATION = 3;

async function arm(call: Call): Promise<ExitStatus> {
  // Listening first: a signal that comes while the home is looked for must not leave a watcher.
  const signal = firstStopSignal();
  const wanted = wantedOf(call);
  if (wanted.kind === "usage") return await complainUsage("arm", wanted.wrong);
  const home = personHome(call);
  const { environment } = call;
  const checkout = validationCheckout(home);
  if (checkout !== undefined && environment.get("FM_GATE_REFUSE_BYPASS") !== "1") {
    const refusal = "refusing to arm from a disposable validation checkout";
    await say([`watcher: FAILED - ${refusal}: ${printable(checkout)}`]);
    return EXIT.failure;
  }
  const look = () => systemProcesses(environment);
  switch (wanted.kind) {
    case "handling-delivered":
      return await confirmHandling(home, look, wanted);
    case "stop":
      return await stop(home, look);
    case "arm":
    case "restart":
      break;
  }
  if (targetKind(home.state) !== "directory") return await withoutState(home);
  let start: ArmStart = "attach-first";
  if (wanted.kind === "restart") {
    if ((await stopWatcher({ home, look })).kind === "not-recorded") return await notRecorded();
    start = "start";
  }
  return await runArm({
    home,
    environment,
    look,
    signal,
    print: (text) => writeTo("stdout", text),
    complain: (text) => writeTo("stderr", text),
  }, start);
}

type Wanted =
  | { readonly kind: "arm" | "restart" | "stop" }
  | {
    readonly kind: "handling-delivered";
    readonly generation: string;
    readonly pid: NonNullable<ReturnType<typeof parsePid>>;
  }
  | { readonly kind: "usage"; readonly wrong: string };

function wantedOf(call: Call): Wanted {
  const [word] = call.operands;
  if (word !== undefined && word !== "arm") return usage("the only word that it takes is arm");
  if (call.rest.length > 0) return usage("it takes nothing after --");
  const given = (["arm", "restart", "stop", "handling-delivered"] as const)
    .filter((name) => hasFlag(call, name) || (name === "arm" && word === "arm"));
  const [kind = "arm", ...more] = given;
  if (more.length > 0) return usage(`--${kind} and --${more[0]} exclude each other`);
  if (kind !== "handling-delivered") {
    if (hasFlag(call, "watcher-pid")) return usage("--watcher-pid belongs to --handling-delivered");
    return { kind };
  }
  const generation = flagValue(call, "handling-delivered") ?? "";
  if (!/^[A-Za-z0-9._-]+$/.test(generation)) {
    return usage("--handling-delivered needs the generation that the arm printed");
  }
  const pid = parsePid(flagValue(call, "watcher-pid") ?? "");
  if (pid === undefined) return usage("--handling-delivered needs --watcher-pid with a process id");
  return { kind, generation, pid };
}

function usage(wrong: string): Wanted {
  return { kind: "usage", wrong };
}

const VALIDATION_TREE = "/.no-mistakes/worktrees/";

/** The folder of the home's scripts, as given or resolved, if it is one that is thrown away. */
function validationCheckout(home: Home): string | undefined {
  const folders = [`${home.root}/bin`];
  try {
    folders.push(`${Deno.realPathSync(home.root)}/bin`);
  } catch {
    // A root that is not there leads nowhere.
  }
  return folders.find((folder) => folder.includes(VALIDATION_TREE));
}

async function confirmHandling(
  home: Home,
  look: () => Processes,
  { pid, generation }: Extract<Wanted, { kind: "handling-delivered" }>,
): Promise<ExitStatus> {
  if (!await isProvenHolder({ home, look }, pid)) {
    return await refuse(`pid ${pid} is not this home's watcher`);
  }
  const change = await beginHandling(home.state, { expected: generation });
  switch (change.kind) {
    case "done":
      return EXIT.ok;
    case "other-generation":
      await refuse(`${generation} is not the stretch of downtime that is open`);
      return OTHER_GENERATION;
    case "failed":
      return await refuse("that the wake was delivered could not be recorded");
  }
}

async function refuse(because: string): Promise<ExitStatus> {
  await writeTo("stderr", `watcher: ${printable(because)}; nothing was changed\n`);
  return EXIT.failure;
}

async function stop(home: Home, look: () => Processes): Promise<ExitStatus> {
  const outcome = await stopWatcher({ home, look });
  switch (outcome.kind) {
    case "none-running":
      await say(["watcher: none running"]);
      return EXIT.ok;
    case "stopped":
      await say([`watcher: stopped pid=${outcome.pid}`]);
      return EXIT.ok;
    case "did-not-stop":
      await say([`watcher: FAILED - pid=${outcome.pid} did not stop`]);
      return EXIT.failure;
    case "not-recorded":
      return await notRecorded();
  }
}

async function notRecorded(): Promise<ExitStatus> {
  await writeTo(
    "stderr",
    "watcher: FAILED - stale watcher recovery state could not be persisted\n",
  );
  return EXIT.failure;
}

async function withoutState(home: Home): Promise<ExitStatus> {
  await writeTo(
    "stderr",
    `watcher: ${printable(home.state)} is not a directory; nothing was changed; ` +
      "run turnguard init, or name the home with --root\n",
  );
  await say([NO_WATCHER]);
  return EXIT.failure;
}
