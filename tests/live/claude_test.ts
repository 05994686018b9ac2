/**
 * Real Claude Code sessions in a guarded home: blind stops are blocked and bounded, a parked session
 * is woken, and nothing outlives a session.
 *
 * The hooks are those that `turnguard install claude` writes. The model is on the loopback interface,
 * and everything else that Claude Code may want to reach is behind a proxy that does not exist.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { liveness } from "../../src/platform/liveness.ts";
import { parsePid } from "../../src/platform/pid.ts";
import { isFile, textOf } from "../support/files.ts";
import { until } from "../support/processes.ts";
import { handleWakes } from "../support/handle_wakes.ts";
import { environmentOf, runProgram } from "../support/turnguard.ts";
import { guardProcesses, type LiveHome, liveHome, TASK, turnguard, verdicts } from "./live_home.ts";
import { type MockModel, startMockModel } from "./mock_model.ts";
import { npmCli } from "./npm_cli.ts";
import { startTerminal, TMUX } from "./terminal.ts";

const VERSION = "2.1.197";
const BANNER = "TURN WOULD END BLIND";
const FEEDBACK = "Stop hook feedback:";
const KEY = "sk-test-none";
const SETTINGS = ".claude/settings.json";

/** Blocks in a row after which Claude Code ends a turn all the same. */
const HOST_BLOCK_CAP = 8;

/** Milliseconds for a whole session, and for one step of it. */
const SESSION_LIMIT_MS = 90_000;
const STEP_LIMIT_MS = 60_000;

/** A home as a person makes it: nothing but what `init` and `install claude` write. */
async function claudeHome(prepare: (root: string) => void = () => {}): Promise<LiveHome> {
  const home = await liveHome("claude", prepare);
  // What a person answers once: the first start, the key, the trust in the folder.
  const answers = {
    hasCompletedOnboarding: true,
    customApiKeyResponses: { approved: [KEY.slice(-20)], rejected: [] },
    projects: { [home.root]: { hasTrustDialogAccepted: true } },
  };
  Deno.writeTextFileSync(join(home.folder, "user", ".claude.json"), JSON.stringify(answers));
  return home;
}

function environment(home: LiveHome, model: MockModel): Record<string, string> {
  return environmentOf({
    PATH: Deno.env.get("PATH"),
    HOME: join(home.folder, "user"),
    SHELL: "/bin/sh",
    LANG: "C.UTF-8",
    FM_SIGNAL_GRACE: "0",
    ANTHROPIC_BASE_URL: model.origin,
    ANTHROPIC_API_KEY: KEY,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    HTTP_PROXY: "http://127.0.0.1:9",
    HTTPS_PROXY: "http://127.0.0.1:9",
    NO_PROXY: "127.0.0.1",
  });
}

/** A session without a terminal. Bind it with `await using`: it ends. */
interface PrintSession extends AsyncDisposable {
  readonly pid: number;
  /** Its exit status. */
  readonly ended: Promise<number>;
  readonly hasEnded: boolean;
}

function startPrinting(claude: string, home: LiveHome, model: MockModel): PrintSession {
  const child = new Deno.Command(claude, {
    args: ["-p", "hello", "--model", "claude-sonnet-4-5"],
    clearEnv: true,
    env: environment(home, model),
    cwd: home.root,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  let hasEnded = false;
  const ended = child.status.then(({ code }) => {
    hasEnded = true;
    return code;
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), SESSION_LIMIT_MS);
  return {
    pid: child.pid,
    ended,
    get hasEnded() {
      return hasEnded;
    },
    [Symbol.asyncDispose]: async () => {
      clearTimeout(timer);
      if (!hasEnded) child.kill("SIGKILL");
      await ended;
    },
  };
}

/** The auto-arm that has claimed the home and lives. */
function parkedProcess(
  home: LiveHome,
): { readonly epoch: number; readonly pid: number } | undefined {
  const ledger = textOf(join(home.root, "state", ".claude-autoarm-epoch"));
  const [, epoch, pidText = ""] = /^epoch=(\d+) owner_pid=(\d+) outcome=arming /.exec(ledger) ?? [];
  const pid = parsePid(pidText);
  return pid === undefined || liveness(pid) !== "alive" ? undefined : { epoch: Number(epoch), pid };
}

/** Waits until the park of this number has a watcher of its own and the guard has let the turn end. */
async function parked(home: LiveHome, epoch: number): Promise<number> {
  await until(() => {
    const lock = join(home.root, "state", ".watch.lock");
    const claim = parkedProcess(home);
    // The session's word for the home, as the watcher records it, is the one that people use.
    return claim?.epoch === epoch && textOf(join(lock, "pid")).trim() === String(claim.pid) &&
      textOf(join(lock, "fm-home")) === `${home.root}\n` &&
      verdicts(home, "stop --claude").length === epoch;
  }, STEP_LIMIT_MS);
  return parkedProcess(home)?.pid ?? 0;
}

/** Lets the task report something, at one stroke: a file seen half written would be two reports. */
function report(home: LiveHome, text: string): void {
  const path = join(home.root, "state", `${TASK}.status`);
  Deno.writeTextFileSync(join(home.folder, "report"), `${text}\n`);
  Deno.renameSync(join(home.folder, "report"), path);
}

/** What the last message of a turn's request says. */
function lastMessage(turn: string | undefined): string {
  const request: unknown = JSON.parse(turn ?? "{}");
  assert(typeof request === "object" && request !== null && "messages" in request);
  assert(Array.isArray(request.messages));
  const message: unknown = request.messages.at(-1);
  assert(typeof message === "object" && message !== null && "content" in message);
  const { content } = message;
  if (typeof content === "string") return content;
  assert(Array.isArray(content));
  return content.map((block: unknown) => {
    const hasText = typeof block === "object" && block !== null && "text" in block;
    return hasText && typeof block.text === "string" ? block.text : "";
  }).join("\n");
}

async function untilNoGuardRuns(home: LiveHome): Promise<void> {
  const limit = Date.now() + STEP_LIMIT_MS;
  while ((await guardProcesses(home.root)).length > 0) {
    if (Date.now() > limit) throw new Error(`turnguard still runs: ${home.root}`);
  }
}

function allAllow(list: readonly string[]): boolean {
  return list.every((verdict) => verdict.startsWith("allow "));
}

Deno.test("claude", async (test) => {
  await using cli = await npmCli("@anthropic-ai/claude-code", VERSION, "claude");
  if (cli.kind === "missing") console.log(`claude: skipped, ${cli.because}`);
  const claude = cli.kind === "ready" ? cli.path : "";

  const step = (name: string, needs: string, fn: () => Promise<void>): Promise<boolean> => {
    const ignore = cli.kind === "missing" || !isFile(needs);
    if (cli.kind === "ready" && ignore) console.log(`claude: skipped, there is no ${needs}`);
    return test.step({ name, ignore, fn });
  };

  await step(
    "claude -p: a turn under the auto-arm parks, is woken once and ends",
    claude,
    async () => {
      await using home = await claudeHome();
      await using model = startMockModel(async (turn) => {
        if (turn === 2) await turnguard("task", "done", TASK, "--root", home.root);
      });
      await using session = startPrinting(claude, home, model);
      await parked(home, 1);
      assert(!session.hasEnded);
      assertEquals(model.turns.length, 1);
      report(home, "done");
      assertEquals(await session.ended, 0);
      assertEquals(model.turns.length, 2);
      assertStringIncludes(
        lastMessage(model.turns[1]),
        `signal: ${home.root}/state/${TASK}.status`,
      );
      assert(allAllow(verdicts(home, "stop --claude")));
      await untilNoGuardRuns(home);
    },
  );

  await step(
    "claude -p: every hook there is runs beside the guard, and goes again",
    claude,
    async () => {
      await using home = await claudeHome();
      await turnguard("task", "done", TASK, "--root", home.root);
      await turnguard("install", "claude", "--all-hooks", "--root", home.root);
      await using model = startMockModel();
      await using session = startPrinting(claude, home, model);
      assertEquals(await session.ended, 0);
      assert(allAllow(verdicts(home, "stop --claude")));
      assertEquals(verdicts(home, "stop --claude").length, 1);
      const found = await runProgram(
        ["/usr/bin/find", join(home.folder, "user"), "-path", "*/turnguard/*", "-name", "*.json"],
      );
      assertEquals(found.stdout.trim().split("\n").length, 1, "the activity of one session");
      await untilNoGuardRuns(home);
      await turnguard("uninstall", "claude", "--root", home.root);
      await using later = startPrinting(claude, home, model);
      assertEquals(await later.ended, 0);
      assertEquals(verdicts(home, "stop --claude").length, 1);
    },
  );

  await step("claude -p: a session that is ended while parked leaves nothing", claude, async () => {
    await using home = await claudeHome();
    await using model = startMockModel();
    await using session = startPrinting(claude, home, model);
    await parked(home, 1);
    Deno.kill(session.pid, "SIGTERM");
    await session.ended;
    await untilNoGuardRuns(home);
    assertEndedWithSession(home);
  });

  await step(
    "claude -p: without the auto-arm every stop is blocked, up to the host's cap",
    claude,
    async () => {
      await using home = await claudeHome();
      withoutAutoarm(home);
      await using model = startMockModel();
      await using session = startPrinting(claude, home, model);
      assertEquals(await session.ended, 0);
      const [first, ...others] = model.turns;
      assert(!lastMessage(first).includes(BANNER));
      assertEquals(others.length, HOST_BLOCK_CAP);
      for (const turn of others) {
        assertStringIncludes(lastMessage(turn), FEEDBACK);
        assertStringIncludes(lastMessage(turn), BANNER);
      }
      const blocks = Array.from({ length: HOST_BLOCK_CAP + 1 }, () => "block unsupervised");
      assertEquals(verdicts(home, "stop --claude"), blocks);
      assert(!isFile(join(home.root, "state", ALARM)));
      await untilNoGuardRuns(home);
    },
  );

  await step(
    "claude -p: an auto-arm that cannot arm is told, and ends in one alarm or at the cap",
    claude,
    async () => {
      await using home = await claudeHome((root) => {
        const script = join(root, "bin", "fm-watch-arm.sh");
        Deno.writeTextFileSync(script, "#!/bin/sh\necho 'watcher: FAILED - x'\nexit 1\n");
        Deno.chmodSync(script, 0o755);
      });
      await using model = startMockModel();
      await using session = startPrinting(claude, home, model);
      assertEquals(await session.ended, 0);
      const told = model.turns.slice(1).map(lastMessage);
      assert(told.length > 0 && told.length <= HOST_BLOCK_CAP, `${told.length} turns`);
      assertStringIncludes(told[0] ?? "", "firstmate watcher auto-arm FAILED - ");
      assertStringIncludes(told[0] ?? "", "watcher: FAILED - x");
      for (const text of told) assertStringIncludes(text, FEEDBACK);
      const autoarm = verdicts(home, "autoarm").filter((verdict) => !verdict.startsWith("arm "));
      assertEquals(autoarm[0], "rewake failed");
      const guard = verdicts(home, "stop --claude");
      const alarms = guard.filter((verdict) => verdict === "allow alarm");
      // A guard that finds a live claim at every stop never gets to the alarm; then the host's cap ends it.
      assertEquals(alarms.length, told.length === HOST_BLOCK_CAP ? alarms.length : 1, guard.join());
      assert(alarms.length <= 1, guard.join());
      assertEquals(isFile(join(home.root, "state", ALARM)), alarms.length === 1);
      if (alarms.length === 1) assertEquals(autoarm.at(-1), "silent silenced");
      await untilNoGuardRuns(home);
    },
  );

  await step(
    "claude: an idle session is woken by exactly one turn, and /exit ends the park",
    TMUX,
    async () => {
      await using home = await claudeHome();
      // In each turn that a wake has begun the session does what the wake asks for.
      await using model = startMockModel(async (turn) => {
        if (turn > 1) await handleWakes({ args: ["--root", home.root], env: {} });
      });
      await using terminal = await startTerminal(
        home.folder,
        [claude, "--model", "claude-sonnet-4-5", "hello"],
        { cwd: home.root, env: environment(home, model) },
      );
      const first = await parked(home, 1);
      assertEquals(model.turns.length, 1);
      report(home, "working: step 1");
      const second = await parked(home, 2);
      assert(first !== second);
      assertEquals(model.turns.length, 2);
      const told = lastMessage(model.turns[1]);
      assertStringIncludes(told, "firstmate watcher wake - ");
      assertStringIncludes(told, `signal: ${home.root}/state/${TASK}.status`);
      assert(allAllow(verdicts(home, "stop --claude")));
      await terminal.enter("/exit");
      await until(() => liveness(terminal.pid) === "dead", STEP_LIMIT_MS);
      await untilNoGuardRuns(home);
      assertEquals(model.turns.length, 2);
      assertEndedWithSession(home);
    },
  );
});

/**
 * That the park ended because its session did: it was signalled (seen with 2.1.332), or left running
 * and noticed by itself (seen with 2.1.197).
 */
function assertEndedWithSession(home: LiveHome): void {
  const all = verdicts(home, "autoarm");
  const queue = textOf(join(home.root, "state", ".wake-queue"));
  const expected = ["silent session-end", "rewake failed"];
  assert(expected.includes(all.at(-1) ?? ""), `${all.join()}\n${queue}`);
}

const ALARM = ".claude-autoarm-failure-alarmed";

/** Takes the second entry out of the settings, as a person might who does not know what it is for. */
function withoutAutoarm(home: LiveHome): void {
  const path = join(home.root, SETTINGS);
  const settings: unknown = JSON.parse(
    Deno.readTextFileSync(path),
    (_, value: unknown) => Array.isArray(value) ? value.filter((each) => !isAutoarm(each)) : value,
  );
  Deno.writeTextFileSync(path, JSON.stringify(settings));
}

function isAutoarm(entry: unknown): boolean {
  return typeof entry === "object" && entry !== null && "asyncRewake" in entry;
}
