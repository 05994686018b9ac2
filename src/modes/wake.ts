/** `wake`: what the watcher has queued for a session, shown, and acknowledged once it is handled. */

import {
  acknowledgeWakes,
  type Presentation,
  presentWakes,
  type QueueRefusal,
  type UnusableRows,
} from "../act/wake_drain.ts";
import { warnAbout } from "./warn.ts";
import { observeReservedRows } from "../observe/branch_grant.ts";
import type { Home } from "../observe/home.ts";
import { nowSeconds } from "../platform/clock.ts";
import { writeTo } from "../platform/output.ts";
import { targetKind } from "../platform/path_kind.ts";
import { printable } from "../platform/printable.ts";
import { systemProcesses } from "../platform/processes.ts";
import { readRecoveryMarker, type RecoveryReading } from "../state/recovery_marker.ts";
import {
  collapseRows,
  type QueuePaths,
  queuePaths,
  type QueueRow,
  readQueue,
} from "../state/wake_queue.ts";
import { personHome } from "./call_home.ts";
import { type Call, EXIT, type ExitStatus, flagValue, hasFlag, type ModeSpec } from "./mode.ts";
import {
  ageInWords,
  complain,
  complainUsage,
  counted,
  fitted,
  pasteable,
  say,
  sayJson,
  SCREEN_COLUMNS,
  screenStyle,
} from "./person_output.ts";
import { recoveryInWords } from "./recovery_words.ts";

const ROOT_FLAG = { name: "root", value: "DIR", summary: "Root of the home." } as const;

const DRAIN_FLAGS = [
  {
    name: "ack-through",
    value: "NUMBER",
    summary: "With drain or ack: take out the rows up to this number.",
  },
  {
    name: "recovery-generation",
    value: "WORD",
    summary: "With drain or ack: the episode that was handled, as drain named it.",
  },
  { name: "queued", summary: "With drain: only print the rows, in the order of their arrival." },
] as const;

const DRAIN_DETAILS = [
  "drain prints one row a line: time, number, kind, key and text, separated by tabs. Rows about the " +
  "same thing are shown once. It removes nothing, so it can be repeated: what ends the rows is the " +
  "command that it names on standard error, to be run when they have been handled.",
] as const;

/** The mode. */
export const wakeMode: ModeSpec = {
  name: "wake",
  kind: "person",
  summary: "Show, drain or acknowledge the wakes that are queued for a session.",
  operands: "list | drain | ack",
  maximumOperands: 1,
  flags: [
    ROOT_FLAG,
    { name: "json", summary: "With list: print one JSON object." },
    ...DRAIN_FLAGS,
  ],
  details: [
    ...DRAIN_DETAILS,
    "list shows the same rows and takes no lock, changes nothing and marks nothing as seen. Its JSON " +
    "object has the keys queue, rows, unusable (lines that are no rows) and recovery.",
  ],
  startsPrograms: true,
  run: (call) => wake(call, call.operands[0]),
};

/** The mode under the word that scripts call. */
export const drainMode: ModeSpec = {
  name: "drain",
  kind: "person",
  summary: "The same as wake drain.",
  flags: [ROOT_FLAG, ...DRAIN_FLAGS],
  details: DRAIN_DETAILS,
  startsPrograms: true,
  run: (call) => wake(call, "drain"),
};

async function wake(call: Call, action: string | undefined): Promise<ExitStatus> {
  if (action !== "list" && action !== "drain" && action !== "ack") {
    const wrong = action === undefined
      ? "say what to do: list, drain or ack"
      : `${JSON.stringify(action)} is not list, drain or ack`;
    return await complainUsage("wake", wrong);
  }
  const receipt = receiptIn(call, action);
  if (typeof receipt === "string") return await complainUsage("wake", receipt);
  const home = personHome(call);
  if (targetKind(home.state) !== "directory") {
    return await complain({
      mode: "wake",
      wrong: `there is no state directory at ${home.state} (${home.foundBy})`,
      untouched: "nothing was changed",
      todo: "name a home with --root DIR, or make one with: turnguard init",
    });
  }
  const target: Target = { call, home, paths: queuePaths(home.state, call.environment) };
  if (action === "list") return await list(target);
  if (receipt !== undefined) return await acknowledge(target, receipt);
  return hasFlag(call, "queued") ? await printQueued(target) : await drain(target);
}

interface Target {
  readonly call: Call;
  readonly home: Home;
  readonly paths: QueuePaths;
}

/** What a session says it has handled. */
interface Receipt {
  readonly through: number;
  readonly generation: string;
}

/** The receipt in a call, or what is wrong with the call's flags. */
function receiptIn(call: Call, action: "list" | "drain" | "ack"): Receipt | string | undefined {
  const through = flagValue(call, "ack-through");
  const generation = flagValue(call, "recovery-generation");
  const given = through !== undefined || generation !== undefined;
  if (hasFlag(call, "json") && action !== "list") return "--json belongs to list";
  if (hasFlag(call, "queued") && action !== "drain") return "--queued belongs to drain";
  if (hasFlag(call, "queued") && given) return "--queued acknowledges nothing";
  if (given && action === "list") return "list acknowledges nothing";
  if (!given && action !== "ack") return undefined;
  if (through === undefined || generation === undefined) {
    return "--ack-through and --recovery-generation are needed together, as drain named them";
  }
  if (!/^[0-9]+$/.test(through)) return "--ack-through is a whole number, as drain named it";
  if (!/^[A-Za-z0-9._-]+$/.test(generation)) {
    return "--recovery-generation is one word of letters, digits and . _ -, as drain named it";
  }
  return { through: Number(through), generation };
}

async function drain(target: Target): Promise<ExitStatus> {
  const { call, home, paths } = target;
  const reserved = () => observeReservedRows(home.state, systemProcesses(call.environment));
  const found = await presentWakes({ paths, reserved });
  if (found.kind === "busy") {
    await warn([`${busy(found)}; nothing was changed; run ${drainCommand(target)} again`]);
    return EXIT.ok;
  }
  if (found.kind === "unable") return await complainQueue(target, found.because);
  await reportUnusable(found.unusable);
  const status = await reportPresented(target, found);
  await runPullGuard(target);
  return status;
}

/** The receipt is asked for only when the rows have reached their reader. */
async function reportPresented(
  target: Target,
  found: Exclude<Presentation, QueueRefusal>,
): Promise<ExitStatus> {
  switch (found.kind) {
    case "invalid-recovery":
      await warn(["durable wakes have invalid recovery state"]);
      return EXIT.failure;
    case "not-recorded":
      await warn([
        `the recovery marker in ${target.home.state} could not be changed; no wake was shown or ` +
        `removed; see turnguard doctor, then run ${drainCommand(target)} again`,
      ]);
      return EXIT.failure;
    case "presented":
      break;
  }
  if (!await printRows(target, found.rows)) return EXIT.failure;
  if (found.handling !== undefined) {
    const { through, generation } = found.handling;
    await writeTo(
      "stderr",
      `WAKE_ACK_REQUIRED: after handling completes run ${ackCommand(target)} ` +
        `--ack-through ${through} --recovery-generation ${generation}\n`,
    );
  }
  return EXIT.ok;
}

/**
 * The last step of a drain: the pull guard speaks to the same session about its supervision. Whatever
 * comes of it, the drain's own status stands.
 */
async function runPullGuard({ home, call }: Target): Promise<void> {
  await warnAbout(() => home, call);
}

/** Numbers of unusable lines that are shown; more would bury the rows. */
const SHOWN_UNUSABLE = 20;
const SHOWN_LINE_CHARACTERS = 2_000;

async function reportUnusable({ rows, keptBecause }: UnusableRows): Promise<void> {
  if (rows.length === 0) return;
  const what = counted(rows.length, "structurally unusable row");
  const shown = rows.slice(0, SHOWN_UNUSABLE)
    .map(({ text }) => printableFields(text.slice(0, SHOWN_LINE_CHARACTERS)));
  await warn([
    keptBecause === undefined
      ? `removed ${what} from the queue:`
      : `${what} could not be removed from the queue (${keptBecause}):`,
  ]);
  await writeTo("stderr", shown.map((line) => `${line}\n`).join(""));
}

/** Prints the rows; `false`, with a complaint, when their reader did not take them. */
async function printRows(target: Target, rows: readonly QueueRow[]): Promise<boolean> {
  const text = rows.map((row) => `${printableFields(lineOfRow(row))}\n`).join("");
  if (await writeTo("stdout", text) === "written") return true;
  await warn([
    "standard output did not take the rows; they are all still queued; " +
    `run ${drainCommand(target)} again`,
  ]);
  return false;
}

function lineOfRow({ epoch, sequence, kind, key, payload }: QueueRow): string {
  return [epoch, sequence, kind, key, payload].join("\t");
}

/** Tabs part the fields; everything else that could steer a terminal is shown as an escape. */
function printableFields(line: string): string {
  return line.split("\t").map(printable).join("\t");
}

async function printQueued(target: Target): Promise<ExitStatus> {
  const { call, home, paths } = target;
  giveUpWriting();
  const found = readQueue(paths.queue);
  if (found.kind === "unreadable") return await complainQueue(target, found.because);
  const usable = found.rows.filter((row) => row.usable);
  if (usable.length < found.rows.length) {
    const lines = counted(found.rows.length - usable.length, "line");
    return await complainQueue(
      target,
      `${lines} of it ${lines === "1 line" ? "is" : "are"} no row`,
    );
  }
  const reserved = await observeReservedRows(home.state, systemProcesses(call.environment));
  const rows = usable.filter((row) => !reserved.has(row.sequence));
  return await printRows(target, rows) ? EXIT.ok : EXIT.failure;
}

async function acknowledge(target: Target, receipt: Receipt): Promise<ExitStatus> {
  const command = drainCommand(target);
  const outcome = await acknowledgeWakes({ paths: target.paths, ...receipt });
  switch (outcome.kind) {
    case "busy":
      await warn([`${busy(outcome)}; nothing was acknowledged; run the same command again`]);
      return EXIT.failure;
    case "unable":
      return await complainQueue(target, outcome.because);
    case "not-retired":
      await warn([
        `recovery episode could not be retired safely; re-run ${command} and use the new ` +
        "WAKE_ACK_REQUIRED command",
      ]);
      return EXIT.failure;
    case "not-consumed":
      await warn([
        `the handled rows could not be taken out of the queue: ${outcome.because}; they are all ` +
        `still queued; re-run ${command} and use the new WAKE_ACK_REQUIRED command`,
      ]);
      return EXIT.failure;
    case "acknowledged":
      break;
  }
  if (outcome.current !== "same") {
    const what = outcome.current === "another"
      ? "the rows were consumed, but a newer recovery episode is pending"
      : "the rows were consumed, but there is no valid recovery marker to retire";
    await warn([
      `${what}; re-run ${command} and use its WAKE_ACK_REQUIRED command, if it names one`,
    ]);
  }
  return EXIT.ok;
}

async function list(target: Target): Promise<ExitStatus> {
  const { call, home, paths } = target;
  giveUpWriting();
  const found = readQueue(paths.queue);
  if (found.kind === "unreadable") return await complainQueue(target, found.because);
  const reserved = await observeReservedRows(home.state, systemProcesses(call.environment));
  const view: QueueView = {
    queue: paths.queue,
    rows: collapseRows(found.rows.filter((row) => row.usable)),
    unusable: found.rows.filter((row) => !row.usable).length,
    reserved,
    recovery: readRecoveryMarker(home.state),
  };
  if (hasFlag(call, "json")) await sayJson(viewAsJson(view));
  else await say(viewAsLines(call, view));
  return EXIT.ok;
}

interface QueueView {
  readonly queue: string;
  readonly rows: readonly QueueRow[];
  readonly unusable: number;
  readonly reserved: ReadonlySet<number>;
  readonly recovery: RecoveryReading;
}

function viewAsJson({ queue, rows, unusable, reserved, recovery }: QueueView): unknown {
  return {
    queue,
    rows: rows.map((row) => ({
      sequence: row.sequence,
      queuedAt: queuedAtSeconds(row) ?? null,
      kind: row.kind,
      key: row.key,
      payload: row.payload,
      reserved: reserved.has(row.sequence),
    })),
    unusable,
    recovery: recovery.kind === "valid"
      ? recovery.marker
      : recovery.kind === "none"
      ? null
      : "invalid",
  };
}

function viewAsLines(call: Call, view: QueueView): readonly string[] {
  const { queue, rows, unusable, reserved, recovery } = view;
  const style = screenStyle(call.environment);
  const lines = rows.map((row) => {
    const at = queuedAtSeconds(row);
    const age = at === undefined ? "" : ageInWords(nowSeconds() - at);
    const taken = reserved.has(row.sequence) ? " (another session has taken it on)" : "";
    const head = `${String(row.sequence).padStart(4)}  ${age.padEnd(9)} ${printable(row.kind)} `;
    const text = fitted(`${head}${printable(row.key)}${taken}`, SCREEN_COLUMNS);
    return row.payload === "" ? [text] : [
      text,
      `      ${style.quiet(fitted(printable(row.payload), SCREEN_COLUMNS - 6))}`,
    ];
  });
  const what = rows.length === 0 ? "no wakes are queued" : `${counted(rows.length, "wake")} queued`;
  return [
    `${what} in ${printable(queue)}`,
    ...lines.flat(),
    ...(unusable === 0
      ? []
      : [`${counted(unusable, "line")} that no wake wrote; drain removes them`]),
    `recovery: ${recoveryInWords(recovery)}`,
  ];
}

function queuedAtSeconds({ epoch }: QueueRow): number | undefined {
  return /^[0-9]{1,15}$/.test(epoch) ? Number(epoch) : undefined;
}

/** What only looks cannot be made to change anything, whatever the files hold. */
function giveUpWriting(): void {
  Deno.permissions.revokeSync({ name: "write" });
}

async function complainQueue({ paths }: Target, because: string): Promise<ExitStatus> {
  return await complain({
    mode: "wake",
    wrong: `the queue ${paths.queue} cannot be used: ${because}`,
    untouched: "nothing was shown, changed or acknowledged",
    todo: "look at that file, and see: turnguard doctor",
  });
}

function busy({ holder }: Extract<QueueRefusal, { kind: "busy" }>): string {
  return `the queue's lock is held by ${holder === undefined ? "somebody" : `pid ${holder}`}`;
}

/** Scripts look for the first words of these lines. */
async function warn(lines: readonly string[]): Promise<void> {
  await writeTo("stderr", lines.map((line) => `wake drain: ${printable(line)}\n`).join(""));
}

/** The script of a fleet's home, where it has one. */
const DRAIN_SCRIPT = "bin/fm-wake-drain.sh";

function drainCommand(target: Target): string {
  return hasDrainScript(target) ? DRAIN_SCRIPT : `turnguard wake drain${rootArgument(target)}`;
}

function ackCommand(target: Target): string {
  return hasDrainScript(target) ? DRAIN_SCRIPT : `turnguard wake ack${rootArgument(target)}`;
}

function hasDrainScript({ home }: Target): boolean {
  return targetKind(`${home.root}/${DRAIN_SCRIPT}`) === "file";
}

/** A home that had to be named has to be named again. */
function rootArgument({ call, home }: Target): string {
  return flagValue(call, "root") === undefined ? "" : ` --root ${pasteable(printable(home.root))}`;
}
