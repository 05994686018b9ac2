/**
 * Real Pi sessions in a guarded home, in a terminal of their own: a blind run gets one follow-up, a
 * watched one none, and a report wakes the session.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { exists, isFile } from "../support/files.ts";
import { startTurnguard } from "../support/turnguard.ts";
import { until } from "../support/processes.ts";
import { guardProcesses, type LiveHome, liveHome, TASK } from "./live_home.ts";
import { type MockModel, startMockModel } from "./mock_model.ts";
import { npmCli } from "./npm_cli.ts";
import { startTerminal, type Terminal, TMUX } from "./terminal.ts";

const VERSION = "0.73.1";
const BANNER = "TURN WOULD END BLIND";
const LIMIT_MS = 90_000;
const QUIET_MS = 4_000;

async function session(pi: string, home: LiveHome, model: MockModel): Promise<Terminal> {
  const user = join(home.folder, "user");
  Deno.mkdirSync(join(user, ".pi", "agent"), { recursive: true });
  const models = [{ id: "mock", name: "mock" }];
  const mock = { baseUrl: model.baseUrl, api: "openai-completions", apiKey: "none", models };
  Deno.writeTextFileSync(
    join(user, ".pi", "agent", "models.json"),
    JSON.stringify({ providers: { mock } }),
  );
  const terminal = await startTerminal(home.folder, [
    pi,
    "--provider",
    "mock",
    "--model",
    "mock",
  ], {
    cwd: home.root,
    env: {
      PATH: Deno.env.get("PATH"),
      HOME: user,
      TERM: "xterm-256color",
      FM_POLL: "1",
      FM_SIGNAL_GRACE: "0",
    },
  });
  await terminal.shows("fm-primary-turnend-guard.ts");
  return terminal;
}

function count(model: MockModel, words: string): number {
  return model.turns.filter((turn) => turn.includes(words)).length;
}

async function quiet(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
}

function withoutBridge(home: LiveHome): void {
  Deno.removeSync(join(home.root, ".pi", "extensions", "fm-primary-pi-watch.ts"));
}

Deno.test("pi", async (test) => {
  await using cli = await npmCli("@mariozechner/pi-coding-agent", VERSION, "pi");
  if (cli.kind === "missing") console.log(`pi: skipped, ${cli.because}`);
  const pi = cli.kind === "ready" ? cli.path : "";
  const ignore = cli.kind === "missing" || !isFile(TMUX);

  await test.step({
    name: "pi: a blind run gets exactly one follow-up",
    ignore,
    fn: async () => {
      await using home = await liveHome("pi", () => {}, "home");
      withoutBridge(home);
      await using model = startMockModel();
      await using terminal = await session(pi, home, model);
      await terminal.enter("hello");
      await until(() => count(model, BANNER) > 0, LIMIT_MS);
      await quiet();
      assertEquals([model.turns.length, count(model, BANNER)], [2, 1]);
      assertStringIncludes(model.turns[1] ?? "", "FIRSTMATE_OP: v1 turn-end-guard: ");
    },
  });

  await test.step({
    name: "pi: a run under a healthy watcher ends at once",
    ignore,
    fn: async () => {
      await using home = await liveHome("pi", () => {}, "home");
      withoutBridge(home);
      const watcher = startTurnguard(["watch", "--root", home.root]);
      await until(() => exists(join(home.root, "state/.last-watcher-beat")));
      await using model = startMockModel();
      await using terminal = await session(pi, home, model);
      await terminal.enter("hello");
      await until(() => model.turns.length > 0, LIMIT_MS);
      await quiet();
      assertEquals([model.turns.length, count(model, BANNER)], [1, 0]);
      watcher.kill("SIGTERM");
      await watcher.status;
    },
  });

  await test.step({
    name: "pi: the bridge arms, and a report wakes the session once",
    ignore,
    fn: async () => {
      await using home = await liveHome("pi", () => {}, "home");
      await using model = startMockModel();
      await using terminal = await session(pi, home, model);
      await terminal.enter("hello");
      await until(() => exists(join(home.root, "state/.last-watcher-beat")), LIMIT_MS);
      Deno.writeTextFileSync(join(home.root, "state", `${TASK}.status`), "done: all\n");
      await until(() => count(model, "FIRSTMATE_OP: v1 watcher: ") > 0, LIMIT_MS);
      await quiet();
      assertEquals(count(model, BANNER), 0);
      assert(model.turns.filter((turn) => turn.includes("v1 watcher: ")).length >= 1);
      for (const pid of await guardProcesses(home.root)) Deno.kill(pid, "SIGTERM");
    },
  });
});
