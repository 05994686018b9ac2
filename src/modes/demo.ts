/** `demo`: one turn end, blocked and then allowed, by the real executable in a throw-away home. */

import { judgeWatcher } from "../decide/watcher_health.ts";
import type { Home } from "../observe/home.ts";
import { observeWatcher } from "../observe/watcher.ts";
import { graceVariables } from "../observe/turn_end.ts";
import { nowSeconds } from "../platform/clock.ts";
import { type Environment, environmentOf } from "../platform/environment.ts";
import { errorMessage } from "../platform/file_text.ts";
import { printable } from "../platform/printable.ts";
import { systemProcesses } from "../platform/processes.ts";
import { firstStopSignal, type StopSignal } from "../platform/stop_signal.ts";
import { createTaskRecord, parseTaskId } from "../state/task_record.ts";
import { makeHome } from "./init.ts";
import { type Call, EXIT, type ExitStatus, type ModeSpec } from "./mode.ts";
import { complain, labelled, say, screenStyle, type Style } from "./person_output.ts";

/** The mode. */
export const demoMode: ModeSpec = {
  name: "demo",
  kind: "person",
  summary: "Show the guard at work: a blocked turn end, a watcher, an allowed one.",
  flags: [],
  details: [
    "Everything happens in a folder under the system's temporary directory, which is removed at " +
    "the end. No harness, home or registration of yours is touched.",
  ],
  startsPrograms: true,
  run: demo,
};

/** A Stop payload as Codex sends it, with neutral values. */
const CODEX_STOP = JSON.stringify({
  session_id: "00000000-0000-7000-8000-000000000001",
  turn_id: "00000000-0000-7000-8000-000000000002",
  transcript_path: null,
  cwd: "/",
  hook_event_name: "Stop",
  model: "demo",
  permission_mode: "default",
  stop_hook_active: false,
  last_assistant_message: "The build runs in the background. All done for now.",
});

/** Milliseconds that one step may take; far more than it needs. */
const STEP_LIMIT_MS = 8_000;

/** Milliseconds between looks at a watcher that is just starting. */
const LOOK_MS = 20;

/** A step that did not come out as the demo says. */
class DemoFailure extends Error {}

/** What the steps share. */
interface Stage {
  readonly home: Home;
  readonly style: Style;
  /** Rejects when the demo is interrupted. */
  readonly interruption: Promise<never>;
}

async function demo(call: Call): Promise<ExitStatus> {
  if (!Deno.build.standalone) {
    return await complain({
      mode: "demo",
      wrong: "it shows the built executable, and this runs from the sources",
      untouched: "nothing was started",
      todo: "build it first with: deno task build",
    });
  }
  const folder = newFolder();
  if (folder === undefined) {
    return await complain({
      mode: "demo",
      wrong: "no folder can be made under the system's temporary directory",
      untouched: "nothing was started",
      todo: "set TMPDIR to a folder that you may write to",
    });
  }
  const status = await playIn(folder, screenStyle(call.environment));
  if (isRemoved(folder)) return status;
  return await complain({
    mode: "demo",
    wrong: `its folder cannot be removed: ${folder}`,
    untouched: "it was left behind",
    todo: "remove it by hand",
  });
}

function newFolder(): string | undefined {
  try {
    return Deno.makeTempDirSync({ prefix: "turnguard-demo-" });
  } catch {
    return undefined;
  }
}

function isRemoved(folder: string): boolean {
  try {
    Deno.removeSync(folder, { recursive: true });
    return true;
  } catch (error) {
    return error instanceof Deno.errors.NotFound;
  }
}

/** Plays all steps; whatever happens in them, nothing that was started still runs afterwards. */
async function playIn(folder: string, style: Style): Promise<ExitStatus> {
  let received: StopSignal | undefined;
  const interruption = firstStopSignal().then((signal): never => {
    received = signal;
    throw new DemoFailure(`interrupted by ${signal.name}`);
  });
  // Between two steps nobody listens; the next one that does gets it all the same.
  interruption.catch(() => {});
  try {
    await play(folder, style, interruption);
    return EXIT.ok;
  } catch (error) {
    // A terminal interrupts the children too, and what they then answer is no failure of theirs.
    if (received !== undefined) return received.status;
    return await complain({
      mode: "demo",
      wrong: error instanceof DemoFailure ? error.message : `stopped: ${errorMessage(error)}`,
      untouched: "nothing outside its own folder was touched",
      todo: "see: turnguard doctor",
    });
  }
}

async function play(
  folder: string,
  style: Style,
  interruption: Promise<never>,
): Promise<void> {
  const stage: Stage = { home: setUp(`${folder}/home`), style, interruption };
  await heading(stage, 1, `A home with one task in flight: ${stage.home.home}`);
  await heading(stage, 2, "Codex wants to end its turn. Its Stop payload goes to: turnguard stop");
  await showStop(stage, EXIT.block, "blocked, and the session is told why");
  await heading(stage, 3, "A watcher starts: turnguard watch");
  await withWatcher(stage, async () => {
    await heading(stage, 4, "The same payload once more: turnguard stop");
    await showStop(stage, EXIT.ok, "allowed, without a word");
    await heading(stage, 5, "Why? turnguard explain stop");
    await showExplanation(stage);
  });
  await say([
    "",
    style.title("Background work with nobody watching: the turn goes on until somebody does."),
    style.title("With a live watcher it may end. All of this is removed again."),
  ]);
}

function setUp(root: string): Home {
  const making = makeHome(root, "allowed");
  if (making.kind === "refused") throw new DemoFailure(making.wrong);
  const id = parseTaskId("build");
  if (id === undefined) throw new DemoFailure("the demo's task has no usable name");
  createTaskRecord(making.home.state, id, {
    createdAtSeconds: nowSeconds(),
    note: "a build in the background",
  });
  return making.home;
}

async function heading({ style }: Stage, number: number, text: string): Promise<void> {
  const lines = labelled(`${number}  `, printable(text));
  await say([...(number === 1 ? [] : [""]), ...lines.map(style.title)]);
}

/** Runs `stop` on the demo's payload, shows what it said, and insists on its exit status. */
async function showStop(stage: Stage, expected: ExitStatus, meaning: string): Promise<void> {
  const { status, stderr } = await runSelf(stage, ["stop"], CODEX_STOP);
  if (status !== expected) {
    throw new DemoFailure(`turnguard stop ended with ${status} instead of ${expected}`);
  }
  const paint = status === EXIT.block ? stage.style.bad : stage.style.good;
  await say([
    ...quoted(stderr).map(stage.style.doubtful),
    ...labelled("   ", `exit ${status}: ${meaning}`).map(paint),
  ]);
}

async function showExplanation(stage: Stage): Promise<void> {
  const { status, stdout } = await runSelf(stage, ["explain", "stop"], CODEX_STOP);
  if (status !== EXIT.ok) throw new DemoFailure(`turnguard explain ended with ${status}`);
  await say(stdout.trimEnd().split("\n"));
}

/** What a child printed, wrapped to the screen; a banner's own lines keep their mark in front. */
function quoted(text: string): readonly string[] {
  if (text === "") return [];
  return text.trimEnd().split("\n").flatMap((line) => {
    const mark = line.startsWith("●  ") ? "●  " : "";
    const [first = "", ...more] = labelled(`   ${mark}`, printable(line.slice(mark.length)));
    return [first, ...more];
  });
}

/** Runs `act` while a real watcher watches the home; it has ended when this returns. */
async function withWatcher(stage: Stage, act: () => Promise<void>): Promise<void> {
  const { home, style, interruption } = stage;
  const watcher = startSelf(stage, ["watch"], "null");
  const ended = watcher.output();
  let gone = false;
  void ended.then(() => gone = true);
  try {
    const pid = await Promise.race([interruption, untilHealthy(home, () => gone)]);
    await say([`   ${style.good(`healthy: pid ${pid}, its first beat is given`)}`]);
    await act();
  } finally {
    end(watcher, "SIGTERM");
    await ended;
  }
  await say(["", style.quiet("   The watcher was asked to stop, and has stopped.")]);
}

function end(child: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    child.kill(signal);
  } catch {
    // It has ended by itself.
  }
}

/** Waits for the same proof that the guard demands, and returns the watcher's pid. */
async function untilHealthy(home: Home, isGone: () => boolean): Promise<number> {
  const giveUpAt = Date.now() + STEP_LIMIT_MS;
  const environment: Environment = environmentOf({});
  while (!isGone() && Date.now() < giveUpAt) {
    const processes = systemProcesses(environment);
    const fact = await observeWatcher(home, graceVariables(environment), processes);
    const health = judgeWatcher(fact);
    if (health.kind === "healthy") return health.pid;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  throw new DemoFailure(isGone() ? "turnguard watch ended at once" : "no watcher became healthy");
}

interface SelfOutput {
  readonly status: ExitStatus;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a mode of this executable on the demo's home, with `input` on its standard input. */
async function runSelf(stage: Stage, mode: readonly string[], input: string): Promise<SelfOutput> {
  const child = startSelf(stage, mode, "piped");
  const output = child.output();
  let timer: number | undefined;
  try {
    const limit = new Promise<never>((_, reject) => {
      const failure = new DemoFailure(`turnguard ${mode.join(" ")} gave no answer`);
      timer = setTimeout(() => reject(failure), STEP_LIMIT_MS);
    });
    const fed = feed(child.stdin, input);
    const { code, stdout, stderr } = await Promise.race([output, limit, stage.interruption]);
    await fed;
    const decoder = new TextDecoder();
    return { status: code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
  } catch (error) {
    end(child, "SIGKILL");
    await output;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function feed(stdin: WritableStream<Uint8Array>, input: string): Promise<void> {
  try {
    const writer = stdin.getWriter();
    await writer.write(new TextEncoder().encode(input));
    await writer.close();
  } catch {
    // The child ended before it had read everything; its status tells what there is to tell.
  }
}

/**
 * Starts this executable on the demo's home.
 *
 * The environment is all but empty: a home, a harness or a grace that the caller's names would make
 * it another demo.
 */
function startSelf(
  { home }: Stage,
  mode: readonly string[],
  stdin: "piped" | "null",
): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: [...mode, "--root", home.root],
    clearEnv: true,
    env: { PATH: "/usr/bin:/bin" },
    cwd: "/",
    stdin,
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}
