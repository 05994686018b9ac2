/**
 * Real Claude Code sessions under a watchdog, their activity recorded by the hooks that `install claude
 * --activity` writes: what is in flight holds, what is idle is ended, and nothing is left.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path";
import { environmentOf, runProgram, type RunResult, TURNGUARD } from "../support/turnguard.ts";
import { processesIn, summaryOf } from "../support/watchdog_home.ts";
import { type MockModel, startMockModel, type ToolCalls } from "./mock_model.ts";
import { npmCli } from "./npm_cli.ts";

const VERSION = "2.1.197";
const LIMIT_MS = 120_000;

/** What the session is asked; requests without it are a subagent's. */
const PROMPT = "the-main-request";

/** Seconds that a subagent takes: longer than the idle limit. */
const AGENT_SECONDS = 6;
const IDLE_SECONDS = "3";

interface Scenario {
  readonly name: string;
  /** What the model says to the main session, turn by turn; `hang` never answers. */
  readonly main: readonly (string | ToolCalls | "hang")[];
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly check: (result: RunResult) => void;
}

function agents(inBackground: boolean, ...prompts: readonly string[]): ToolCalls {
  return {
    tools: prompts.map((prompt) => ({
      name: "Agent",
      input: {
        description: prompt,
        prompt,
        subagent_type: "general-purpose",
        run_in_background: inBackground,
      },
    })),
  };
}

function bash(command: string): ToolCalls {
  return { tools: [{ name: "Bash", input: { command, description: "x" } }] };
}

function ended(result: RunResult): string {
  const { reason, tool_calls, subagents } = summaryOf(result);
  return `${reason} ${result.status}, ${tool_calls} calls, ${subagents} subagents`;
}

const SCENARIOS: readonly Scenario[] = [
  {
    name: "two agents at once, longer than the idle limit, then an end of its own",
    main: [agents(false, "one", "two"), "All done."],
    check: (result) => assertEquals(ended(result), "exited 0, 2 calls, 0 subagents"),
  },
  {
    name: "an agent in the background holds until it is over",
    main: [agents(true, "one"), "Waiting.", "All done.", "All done.", "All done."],
    check: (result) => {
      const { reason, subagents } = summaryOf(result);
      // A headless session may leave while its agent works; it must not have been ended.
      assertEquals([reason, result.status], ["exited", 0], result.stderr);
      assert(Number(subagents) <= 1);
    },
  },
  {
    name: "a model that never answers again",
    main: [bash("true"), "hang"],
    check: (result) => assertEquals(ended(result), "idle 123, 1 calls, 0 subagents"),
  },
  {
    name: "a launch that is denied holds nothing",
    settings: { permissions: { deny: ["Agent"], allow: ["Bash"] } },
    main: [agents(false, "one"), "hang"],
    check: (result) => {
      const { reason, subagents } = summaryOf(result);
      assertEquals([reason, result.status, subagents], ["idle", 123, "0"], result.stderr);
    },
  },
  {
    name: "a tool that fails, then an end of its own",
    main: [bash("exit 3"), "All done."],
    check: (result) => assertEquals(ended(result), "exited 0, 1 calls, 0 subagents"),
  },
];

async function play(claude: string, scenario: Scenario): Promise<RunResult> {
  const folder = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "turnguard-test-" }));
  let turn = 0;
  const released = Promise.withResolvers<void>();
  const model: MockModel = startMockModel(
    async (_, body) => {
      if (!body.includes(PROMPT)) {
        await new Promise((resolve) => setTimeout(resolve, AGENT_SECONDS * 1000));
      } else if (scenario.main[Math.min(turn, scenario.main.length - 1)] === "hang") {
        await released.promise;
      }
    },
    (_, body) => {
      if (!body.includes(PROMPT)) return "The agent is done.";
      return scenario.main[Math.min(turn++, scenario.main.length - 1)] ?? "All done.";
    },
  );
  try {
    const [project, user] = [join(folder, "project"), join(folder, "user")];
    Deno.mkdirSync(join(project, ".claude"), { recursive: true });
    Deno.mkdirSync(user);
    Deno.writeTextFileSync(
      join(project, ".claude", "settings.json"),
      JSON.stringify(scenario.settings ?? { permissions: { allow: ["Bash", "Agent"] } }),
    );
    const env = {
      PATH: Deno.env.get("PATH"),
      HOME: user,
      SHELL: "/bin/sh",
      LANG: "C.UTF-8",
      ANTHROPIC_BASE_URL: model.origin,
      ANTHROPIC_API_KEY: "sk-test",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
    };
    const words = ["install", "claude", "--activity", "--root", project];
    const installed = await runProgram([TURNGUARD, ...words], {
      env: environmentOf(env),
      stdin: null,
    });
    assertEquals(installed.status, 0, installed.stderr);
    const result = await runProgram([
      TURNGUARD,
      "watchdog",
      "--idle-timeout",
      IDLE_SECONDS,
      "--startup-grace",
      "20",
      "--grace",
      "3",
      "--progress",
      "activity",
      "--",
      claude,
      "-p",
      PROMPT,
      "--model",
      "claude-sonnet-4-5",
    ], { cwd: project, stdin: null, limitMs: LIMIT_MS, env: environmentOf(env) });
    assertEquals(processesIn(folder), [], "processes are left");
    return result;
  } finally {
    released.resolve();
    await model[Symbol.asyncDispose]();
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("watchdog with Claude Code", async (test) => {
  await using cli = await npmCli("@anthropic-ai/claude-code", VERSION, "claude");
  if (cli.kind === "missing") console.log(`watchdog: skipped, ${cli.because}`);
  for (const scenario of SCENARIOS) {
    await test.step({
      name: `watchdog: ${scenario.name}`,
      ignore: cli.kind === "missing",
      fn: async () => {
        scenario.check(await play(cli.kind === "ready" ? cli.path : "", scenario));
      },
    });
  }
});
