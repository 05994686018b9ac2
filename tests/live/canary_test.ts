/**
 * `doctor --canary` with the real Claude Code and Codex: one turn in a home that is thrown away, and its
 * block.
 *
 * @module
 */

import { assertEquals, assertMatch } from "@std/assert";
import { dirname, join } from "@std/path";
import { runTurnguard } from "../support/turnguard.ts";
import { type MockModel, startMockModel } from "./mock_model.ts";
import { npmCli } from "./npm_cli.ts";

const LIMIT_MS = 200_000;

interface Subject {
  readonly harness: string;
  readonly npm: string;
  readonly version: string;
  /** What the program needs to find the model, in a user's folder of its own. */
  readonly prepare: (user: string, model: MockModel) => Readonly<Record<string, string>>;
}

const SUBJECTS: readonly Subject[] = [
  {
    harness: "claude",
    npm: "@anthropic-ai/claude-code",
    version: "2.1.197",
    prepare: (_, model) => ({
      ANTHROPIC_BASE_URL: model.origin,
      ANTHROPIC_API_KEY: "sk-test",
      ANTHROPIC_MODEL: "claude-sonnet-4-5",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
    }),
  },
  {
    harness: "codex",
    npm: "@openai/codex",
    version: "0.171.0",
    prepare: (user, model) => {
      Deno.mkdirSync(join(user, ".codex"));
      const lines = [
        'model = "mock"',
        'model_provider = "mock"',
        "check_for_update_on_startup = false",
        "[analytics]",
        "enabled = false",
        "[model_providers.mock]",
        'name = "mock"',
        `base_url = ${JSON.stringify(model.baseUrl)}`,
        'wire_api = "responses"',
        'env_key = "MOCK_KEY"',
        "",
      ];
      Deno.writeTextFileSync(join(user, ".codex", "config.toml"), lines.join("\n"));
      return { MOCK_KEY: "none", CODEX_HOME: join(user, ".codex") };
    },
  },
];

for (const { harness, npm, version, prepare } of SUBJECTS) {
  Deno.test(`canary: ${harness} ${version}`, async (test) => {
    await using cli = await npmCli(npm, version, harness);
    if (cli.kind === "missing") console.log(`canary ${harness}: skipped, ${cli.because}`);
    await test.step({
      name: `canary: a blind turn of ${harness} is blocked, and nothing is left behind`,
      ignore: cli.kind === "missing",
      fn: async () => {
        await using model = startMockModel();
        const user = Deno.makeTempDirSync({ prefix: "turnguard-test-" });
        try {
          const path = cli.kind === "ready" ? cli.path : "";
          const result = await runTurnguard(["doctor", "--canary", harness], {
            stdin: null,
            limitMs: LIMIT_MS,
            env: {
              ...prepare(user, model),
              PATH: `${dirname(path)}:${Deno.env.get("PATH")}`,
              HOME: user,
              SHELL: "/bin/sh",
              TMPDIR: user,
            },
          });
          assertMatch(result.stdout.replaceAll(/\s+/g, " "), /was blocked \(/);
          assertEquals(result.status, 0);
          const left = [...Deno.readDirSync(user)].map(({ name }) => name)
            .filter((name) => name.startsWith("turnguard-canary-"));
          assertEquals(left, []);
        } finally {
          Deno.removeSync(user, { recursive: true });
        }
      },
    });
  });
}
