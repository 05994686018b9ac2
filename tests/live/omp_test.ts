/**
 * Real omp sessions in a guarded home: one that would settle blind goes on exactly once, a watched one
 * settles.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { dirname, join } from "@std/path";
import { exists } from "../support/files.ts";
import { runProgram, startTurnguard } from "../support/turnguard.ts";
import { until } from "../support/processes.ts";
import { type LiveHome, liveHome } from "./live_home.ts";
import { type MockModel, startMockModel } from "./mock_model.ts";
import { npmCli } from "./npm_cli.ts";

const VERSION = "18.2.3";
const BUN_VERSION = "1.4.5";
const BANNER = "TURN WOULD END BLIND";
const LIMIT_MS = 90_000;

/** Runs one headless session. */
async function session(
  programs: { readonly omp: string; readonly bun: string },
  home: LiveHome,
  model: MockModel,
): Promise<void> {
  const user = join(home.folder, "user");
  Deno.mkdirSync(join(user, ".omp", "agent"), { recursive: true });
  const lines = [
    "providers:",
    "  mock:",
    `    baseUrl: ${model.baseUrl}`,
    "    apiKey: none",
    "    api: openai-completions",
    "    models:",
    "      - id: mock",
    "        name: mock",
  ];
  Deno.writeTextFileSync(join(user, ".omp", "agent", "models.yml"), `${lines.join("\n")}\n`);
  const words = [programs.omp, "-p", "--model", "mock/mock", "hello"];
  const { status, stdout, stderr } = await runProgram(words, {
    cwd: home.root,
    stdin: null,
    limitMs: LIMIT_MS,
    env: { PATH: `${dirname(programs.bun)}:${Deno.env.get("PATH")}`, HOME: user },
  });
  assertEquals(status, 0, `${stdout}\n${stderr}`);
}

function withoutBridge(home: LiveHome): void {
  Deno.removeSync(join(home.root, ".omp", "extensions", "fm-primary-omp-watch.ts"));
}

Deno.test("omp", async (test) => {
  await using cli = await npmCli("@oh-my-pi/pi-coding-agent", VERSION, "omp");
  await using runtime = await npmCli("bun", BUN_VERSION, "bun");
  const missing = [cli, runtime].find(({ kind }) => kind === "missing");
  if (missing?.kind === "missing") console.log(`omp: skipped, ${missing.because}`);
  const programs = {
    omp: cli.kind === "ready" ? cli.path : "",
    bun: runtime.kind === "ready" ? runtime.path : "",
  };
  const ignore = missing !== undefined;

  await test.step({
    name: "omp: a session that would settle blind goes on exactly once",
    ignore,
    fn: async () => {
      await using home = await liveHome("omp", () => {}, "home");
      withoutBridge(home);
      await using model = startMockModel();
      await session(programs, home, model);
      assertEquals(model.turns.length, 2);
      assert(!(model.turns[0] ?? "").includes(BANNER));
      assertStringIncludes(model.turns[1] ?? "", BANNER);
      assertStringIncludes(model.turns[1] ?? "", "FIRSTMATE_OP: v1 turn-end-guard: ");
    },
  });

  await test.step({
    name: "omp: a session under a healthy watcher settles at once",
    ignore,
    fn: async () => {
      await using home = await liveHome("omp", () => {}, "home");
      withoutBridge(home);
      const watcher = startTurnguard(["watch", "--root", home.root]);
      await until(() => exists(join(home.root, "state/.last-watcher-beat")));
      await using model = startMockModel();
      await session(programs, home, model);
      assertEquals(model.turns.length, 1);
      watcher.kill("SIGTERM");
      await watcher.status;
    },
  });
});
