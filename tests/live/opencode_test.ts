/**
 * Real OpenCode sessions in a guarded home: a blind turn gets one follow-up, a watched one none, and a
 * wake reaches the session.
 *
 * A server keeps running while a client comes and goes, since a headless run alone may be over before
 * its follow-up runs.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { exists } from "../support/files.ts";
import { environmentOf, runProgram, startTurnguard } from "../support/turnguard.ts";
import { until } from "../support/processes.ts";
import { guardProcesses, type LiveHome, liveHome, TASK } from "./live_home.ts";
import { type MockModel, startMockModel } from "./mock_model.ts";
import { npmCli } from "./npm_cli.ts";

const VERSION = "1.18.33";
const BANNER = "TURN WOULD END BLIND";
const SESSION_LIMIT_MS = 90_000;

/** Milliseconds in which a follow-up would have come. */
const QUIET_MS = 5_000;

function environment(home: LiveHome, model: MockModel): Record<string, string> {
  const user = join(home.folder, "user");
  const config = join(user, "config", "opencode");
  Deno.mkdirSync(config, { recursive: true });
  const models = { mock: { name: "mock" } };
  const options = { baseURL: model.baseUrl, apiKey: "none" };
  const provider = { mock: { npm: "@ai-sdk/openai-compatible", name: "mock", options, models } };
  Deno.writeTextFileSync(
    join(config, "opencode.json"),
    JSON.stringify({ provider, model: "mock/mock", autoupdate: false, share: "disabled" }),
  );
  return environmentOf({
    PATH: Deno.env.get("PATH"),
    HOME: user,
    XDG_CONFIG_HOME: join(user, "config"),
    XDG_DATA_HOME: join(user, "data"),
    XDG_STATE_HOME: join(user, "state"),
    XDG_CACHE_HOME: join(user, "cache"),
    FM_POLL: "1",
    FM_SIGNAL_GRACE: "0",
  });
}

interface Server extends AsyncDisposable {
  readonly say: (text: string) => Promise<void>;
}

async function serve(opencode: string, home: LiveHome, model: MockModel): Promise<Server> {
  const env = environment(home, model);
  const child = new Deno.Command(opencode, {
    args: ["serve", "--port", "0"],
    cwd: home.root,
    clearEnv: true,
    env,
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  let said = "";
  const reading = (async () => {
    for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) said += part;
  })();
  const place = /listening on (http:\/\/127\.0\.0\.1:[0-9]+)/;
  await until(() => place.test(said), 60_000);
  const origin = place.exec(said)?.[1] ?? "";
  return {
    say: async (text) => {
      const result = await runProgram([opencode, "run", "--attach", origin, text], {
        cwd: home.root,
        env,
        stdin: null,
        limitMs: SESSION_LIMIT_MS,
      });
      assertEquals(result.status, 0, result.stderr);
    },
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      await child.status;
      await reading;
    },
  };
}

async function quiet(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
}

/** Takes the watch bridge away, so that the guard is alone. */
function withoutBridge(home: LiveHome): void {
  Deno.removeSync(join(home.root, ".opencode", "plugins", "fm-primary-watch-arm.js"));
}

Deno.test("opencode", async (test) => {
  await using cli = await npmCli("opencode-ai", VERSION, "opencode");
  if (cli.kind === "missing") console.log(`opencode: skipped, ${cli.because}`);
  const opencode = cli.kind === "ready" ? cli.path : "";
  const ignore = cli.kind === "missing";

  await test.step({
    name: "opencode: a blind turn gets exactly one follow-up",
    ignore,
    fn: async () => {
      await using home = await liveHome("opencode", () => {}, "home");
      withoutBridge(home);
      await using model = startMockModel();
      await using server = await serve(opencode, home, model);
      await server.say("hello");
      await until(() => model.turns.some((turn) => turn.includes(BANNER)), SESSION_LIMIT_MS);
      await quiet();
      const told = model.turns.filter((turn) => turn.includes(BANNER));
      assertEquals(told.length, 1);
      assertStringIncludes(told[0] ?? "", "FIRSTMATE_OP: v1 turn-end-guard: ");
    },
  });

  await test.step({
    name: "opencode: a turn under a healthy watcher ends at once",
    ignore,
    fn: async () => {
      await using home = await liveHome("opencode", () => {}, "home");
      withoutBridge(home);
      const watcher = startTurnguard(["watch", "--root", home.root]);
      await until(() => exists(join(home.root, "state/.last-watcher-beat")));
      await using model = startMockModel();
      await using server = await serve(opencode, home, model);
      await server.say("hello");
      await quiet();
      assert(!model.turns.some((turn) => turn.includes(BANNER)));
      watcher.kill("SIGTERM");
      await watcher.status;
    },
  });

  await test.step({
    name: "opencode: the bridge arms, and a report wakes the session once",
    ignore,
    fn: async () => {
      await using home = await liveHome("opencode", () => {}, "home");
      await using model = startMockModel();
      await using server = await serve(opencode, home, model);
      await server.say("hello");
      await until(() => exists(join(home.root, "state/.last-watcher-beat")), SESSION_LIMIT_MS);
      assert(!model.turns.some((turn) => turn.includes(BANNER)), "it was armed and nagged as well");
      Deno.writeTextFileSync(join(home.root, "state", `${TASK}.status`), "done: all\n");
      const wakes = (): number =>
        model.turns.filter((turn) => turn.includes("FIRSTMATE_OP: v1 watcher: ")).length;
      await until(() => wakes() > 0, SESSION_LIMIT_MS);
      await quiet();
      assertEquals(wakes(), 1);
      for (const pid of await guardProcesses(home.root)) Deno.kill(pid, "SIGTERM");
    },
  });
});
