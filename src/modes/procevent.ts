/** `procevent`: commands that block for long, run outside the session, whose results wake it. */

import { errorMessage } from "../platform/file_text.ts";
import { writeTo } from "../platform/output.ts";
import { targetKind } from "../platform/path_kind.ts";
import { printable } from "../platform/printable.ts";
import { leadsOwnGroup } from "../platform/process_group.ts";
import { firstStopSignal, type StopSignal } from "../platform/stop_signal.ts";
import { findResult, markHandled } from "../state/procevent/inbox.ts";
import {
  isAdapterName,
  parseSourceId,
  readSource,
  type SourceId,
  writeSource,
} from "../state/procevent/source.ts";
import { isInstalled } from "../watch/procevent/adapter.ts";
import { ownership } from "../watch/procevent/generation.ts";
import { confirmSeconds } from "../watch/procevent/liveness_repair.ts";
import { reconcile } from "../watch/procevent/reconcile.ts";
import { retireSource, sourcesOfHome } from "../watch/procevent/retire.ts";
import { type RunnerEnd, runSourceOnce } from "../watch/procevent/runner.ts";
import {
  heldSource,
  SourceError,
  type SourceSetup,
  sourceSetup,
} from "../watch/procevent/setup.ts";
import { personHome } from "./call_home.ts";
import { type Call, EXIT, type ExitStatus, hasFlag, type ModeSpec } from "./mode.ts";
import { complainUsage, say } from "./person_output.ts";

/** The mode. */
export const proceventMode: ModeSpec = {
  name: "procevent",
  kind: "person",
  summary: "Process-event sources: long commands whose results wake the session.",
  operands:
    "register ADAPTER ID | start ID | reconcile | handled ID SEQ | retire ID | list | sweep-home",
  maximumOperands: 3,
  flags: [
    { name: "root", value: "DIR", summary: "Root of the home." },
    { name: "preflight", summary: "With sweep-home: only say whether it could be done." },
  ],
  details: [
    "register ADAPTER ID -- COMMAND… registers a source, start ID runs it once, reconcile starts what " +
    "should run and ends what should not (the watcher does so at every cycle), handled ID SEQ " +
    "acknowledges a result, retire ID ends a source for good, list shows them with their owners, " +
    "sweep-home retires all sources of this home.",
    "A source is a command that blocks until something happens. One runner on the whole machine owns " +
    "it; when it ends, its output is kept in state/procevent-inbox and a row is queued. handled " +
    "acknowledges a result; until then it is queued again.",
    "The adapter is the program bin/fm-procevent-ADAPTER.sh of the home, which says which results end " +
    "the source. The built-in adapter plain needs no program and never ends one.",
  ],
  startsPrograms: true,
  run: procevent,
};

type Action = (call: Call, setup: SourceSetup, words: readonly string[]) => Promise<ExitStatus>;

/** Each action with the number of words that it takes. */
const ACTIONS: Readonly<Record<string, readonly [number, Action]>> = {
  register: [2, register],
  start: [1, start],
  reconcile: [0, reconcileAll],
  handled: [2, handled],
  retire: [1, retire],
  list: [0, list],
  "sweep-home": [0, sweepHome],
};

async function procevent(call: Call): Promise<ExitStatus> {
  const [name = "", ...words] = call.operands;
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (action === undefined) {
    return await complainUsage("procevent", `say what to do: ${Object.keys(ACTIONS).join(", ")}`);
  }
  const [count, act] = action;
  if (words.length !== count) {
    return await complainUsage("procevent", `${name} takes ${count} word${count === 1 ? "" : "s"}`);
  }
  if (call.rest.length > 0 && name !== "register") {
    return await complainUsage("procevent", "a command after -- belongs to register");
  }
  if (hasFlag(call, "preflight") && name !== "sweep-home") {
    return await complainUsage("procevent", "--preflight belongs to sweep-home");
  }
  const home = personHome(call);
  if (targetKind(home.state) !== "directory") {
    return await failed(`there is no state directory at ${home.state}`);
  }
  try {
    return await act(call, sourceSetup(home, call.environment), words);
  } catch (error) {
    return await failed(error instanceof SourceError ? error.message : errorMessage(error));
  }
}

/** Scripts look for the first word of this line. */
async function failed(because: string): Promise<ExitStatus> {
  await writeTo("stderr", `error: ${printable(because)}\n`);
  return EXIT.failure;
}

async function badId(text: string): Promise<ExitStatus> {
  const form = "letters, digits and . _ - with no leading dot, at most 64 characters";
  return await complainUsage("procevent", `${JSON.stringify(text)} is not an ID: ${form}`);
}

async function register(
  call: Call,
  setup: SourceSetup,
  [adapter = "", text = ""]: readonly string[],
): Promise<ExitStatus> {
  const id = parseSourceId(text);
  if (id === undefined) return await badId(text);
  const [command, ...args] = call.rest;
  if (command === undefined || command === "") {
    return await complainUsage("procevent", "register needs a command after --");
  }
  if ([command, ...args].some((word) => word.includes("\n"))) {
    return await complainUsage("procevent", "a command's words must not hold line breaks");
  }
  if (!isAdapterName(adapter) || !isInstalled(setup, adapter)) {
    return await failed(`no installed adapter for: ${adapter}`);
  }
  using _held = await heldSource(setup, id);
  writeSource(setup.home.state, id, { adapter, argv: [command, ...args] });
  await say([`registered: ${id} (${adapter})`]);
  return EXIT.ok;
}

async function start(
  call: Call,
  setup: SourceSetup,
  [text = ""]: readonly string[],
): Promise<ExitStatus> {
  const id = parseSourceId(text);
  if (id === undefined) return await badId(text);
  const stop = firstStopSignal();
  const isCopy = call.environment.get(COPY_VARIABLE) !== undefined;
  if (!leadsOwnGroup() && !isCopy) return await startInOwnGroup(setup, id, stop);
  const end = await runSourceOnce(setup, id, stop);
  return end.kind === "stopped" ? (await stop).status : await reportEnd(id, end);
}

/** Set for the copy, which must not make another one should it lead no group after all. */
const COPY_VARIABLE = "TURNGUARD_PROCEVENT_COPY";

/** A process cannot leave its group by itself: a copy does the work, and this one stands for it. */
async function startInOwnGroup(
  setup: SourceSetup,
  id: SourceId,
  stop: Promise<StopSignal>,
): Promise<ExitStatus> {
  const copy = new Deno.Command(Deno.execPath(), {
    args: ["procevent", "start", id, "--root", setup.home.root],
    env: { [COPY_VARIABLE]: "1" },
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
    detached: true,
  }).spawn();
  stop.then(({ name }) => copy.kill(name)).catch(() => {});
  const { code } = await copy.status;
  return code;
}

async function reportEnd(
  id: SourceId,
  end: Exclude<RunnerEnd, { kind: "stopped" }>,
): Promise<ExitStatus> {
  switch (end.kind) {
    case "already-owned":
      await say([`already owned: ${id}`]);
      return EXIT.ok;
    case "no-result":
      await say([`no-result: ${id} (exit ${end.status})`]);
      return EXIT.ok;
    case "captured":
      if (end.truncatedAt !== undefined) {
        await writeTo("stderr", `truncated: ${id} at ${end.truncatedAt} bytes\n`);
      }
      await say([`captured: ${id} ${end.result.sequence}`]);
      return EXIT.ok;
  }
}

async function reconcileAll(call: Call, setup: SourceSetup): Promise<ExitStatus> {
  const seconds = confirmSeconds(call.environment);
  if (seconds === undefined) {
    return await failed(
      "FM_PROCEVENT_LAUNCH_CONFIRM_SECONDS must be whole seconds from 1 to 600",
    );
  }
  const { published, started, stopped, uncertain, failed: failures } = await reconcile(setup, {
    confirmSeconds: seconds,
  });
  await say([
    `reconciled: published=${published} started=${started} stopped=${stopped} ` +
    `uncertain=${uncertain} failed=${failures}`,
  ]);
  return EXIT.ok;
}

async function handled(
  _call: Call,
  setup: SourceSetup,
  [text = "", number = ""]: readonly string[],
): Promise<ExitStatus> {
  const id = parseSourceId(text);
  if (id === undefined) return await badId(text);
  if (!/^[1-9][0-9]{0,14}$/.test(number)) {
    return await complainUsage("procevent", `${JSON.stringify(number)} is not a result's number`);
  }
  using _held = await heldSource(setup, id);
  const result = findResult(setup.home.state, id, Number(number));
  if (result === undefined) return await failed(`no result ${number} of ${id}`);
  await say([`${markHandled(setup.home.state, result)}: ${id} ${number}`]);
  return EXIT.ok;
}

async function retire(
  _call: Call,
  setup: SourceSetup,
  [text = ""]: readonly string[],
): Promise<ExitStatus> {
  const id = parseSourceId(text);
  if (id === undefined) return await badId(text);
  if (!await retireSource(setup, id)) return await failed(`not registered: ${id}`);
  await say([`retired: ${id}`]);
  return EXIT.ok;
}

async function list(_call: Call, setup: SourceSetup): Promise<ExitStatus> {
  const lines: string[] = [];
  for (const id of await sourcesOfHome(setup)) {
    const found = readSource(setup.home.state, id);
    const adapter = found.kind === "registered" ? found.source.adapter : found.kind;
    const owner = await ownership(setup, id);
    const runner = owner.kind === "live" ? ` pid=${owner.claim.runner}` : "";
    lines.push(`${id} (${adapter}) ${owner.kind}${runner}`);
  }
  await say(lines);
  return EXIT.ok;
}

async function sweepHome(call: Call, setup: SourceSetup): Promise<ExitStatus> {
  const ids = await sourcesOfHome(setup);
  const doubtful: string[] = [];
  for (const id of ids) {
    if ((await ownership(setup, id)).kind === "uncertain") doubtful.push(id);
  }
  if (doubtful.length > 0) return await failed(`cannot tell who owns: ${doubtful.join(" ")}`);
  if (hasFlag(call, "preflight")) {
    await say([`could be swept: ${ids.length}`]);
    return EXIT.ok;
  }
  for (const id of ids) await retireSource(setup, id);
  await say([`swept: ${ids.length}`]);
  return EXIT.ok;
}
