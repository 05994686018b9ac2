/**
 * Real Codex sessions in a guarded home: a blind turn is continued once, a watched one ends.
 *
 * The hook is the one that `turnguard install codex` writes. The model is on the loopback interface,
 * and everything else that Codex may want to reach is behind a proxy that does not exist.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { exists, isFile } from "../support/files.ts";
import { until } from "../support/processes.ts";
import { runProgram, startTurnguard, TURNGUARD } from "../support/turnguard.ts";
import { type LiveHome, liveHome, turnguard } from "./live_home.ts";
import { type MockModel, startMockModel } from "./mock_model.ts";
import { npmCli } from "./npm_cli.ts";

const VERSION = "0.171.0";
const BANNER = "TURN WOULD END BLIND";

/** Milliseconds for a whole session. */
const SESSION_LIMIT_MS = 90_000;

/** Shells that Codex may find in `SHELL`; it runs hooks with `$SHELL -lc`. */
const SHELLS = ["/bin/sh", "/bin/bash", "/usr/bin/zsh", "/usr/bin/fish"];

/** What a session came to. */
interface Session {
  /** The lines in which Codex tells about hooks, in their order. */
  readonly hookLines: readonly string[];
  /** The requests that reached the model. */
  readonly turns: readonly string[];
}

/** Runs one Codex session in `folder`, which is in `home`. */
async function session(
  codex: string,
  home: LiveHome,
  folder: string,
  shell = "/bin/sh",
): Promise<Session> {
  await using model = startMockModel();
  const user = join(home.folder, "user");
  Deno.mkdirSync(join(user, "codex"), { recursive: true });
  Deno.writeTextFileSync(join(user, "codex", "config.toml"), configuration(home, model));
  const { status, stdout, stderr } = await runProgram(
    [codex, "exec", "--dangerously-bypass-hook-trust", "--skip-git-repo-check", "hello"],
    {
      cwd: folder,
      stdin: null,
      limitMs: SESSION_LIMIT_MS,
      env: {
        PATH: Deno.env.get("PATH"),
        HOME: user,
        CODEX_HOME: join(user, "codex"),
        SHELL: shell,
        // A shell that hands this on instead of the session's folder would name the wrong one.
        OLDPWD: "/usr",
        MOCK_KEY: "none",
        HTTP_PROXY: "http://127.0.0.1:9",
        HTTPS_PROXY: "http://127.0.0.1:9",
        NO_PROXY: "127.0.0.1",
      },
    },
  );
  const lines = `${stdout}\n${stderr}`.split("\n");
  assertEquals(status, 0, lines.join("\n"));
  return { hookLines: lines.filter((line) => line.startsWith("hook: ")), turns: model.turns };
}

function configuration(home: LiveHome, model: MockModel): string {
  return [
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
    // Codex reads the hooks of a project only when the project is trusted.
    `[projects.${JSON.stringify(home.root)}]`,
    'trust_level = "trusted"',
    "",
  ].join("\n");
}

/** A watcher of `home` that beats. */
async function startWatch(home: LiveHome): Promise<AsyncDisposable> {
  const child = startTurnguard(["watch", "--root", home.root]);
  let over = false;
  void child.status.then(() => over = true);
  const end = async (): Promise<void> => {
    if (!over) child.kill("SIGTERM");
    await child.status;
  };
  await until(() => over || exists(`${home.root}/state/.last-watcher-beat`));
  if (over) throw new Error("the watcher ended at once");
  return { [Symbol.asyncDispose]: end };
}

Deno.test("codex", async (test) => {
  await using cli = await npmCli("@openai/codex", VERSION, "codex");
  if (cli.kind === "missing") console.log(`codex: skipped, ${cli.because}`);
  const codex = cli.kind === "ready" ? cli.path : "";

  const step = (name: string, needs: string, fn: () => Promise<void>): Promise<boolean> => {
    const ignore = cli.kind === "missing" || !isFile(needs);
    if (cli.kind === "ready" && ignore) console.log(`codex: skipped, there is no ${needs}`);
    return test.step({ name, ignore, fn });
  };

  for (const shell of SHELLS) {
    await step(`codex: a blind turn is continued exactly once (${shell})`, shell, async () => {
      await using home = await liveHome("codex");
      const { hookLines, turns } = await session(codex, home, home.root, shell);
      assertEquals(hookLines, [
        "hook: Stop",
        "hook: Stop Blocked",
        "hook: Stop",
        "hook: Stop Completed",
      ]);
      const [first = "", second = ""] = turns;
      assertEquals(turns.length, 2);
      assert(!first.includes(BANNER));
      assertStringIncludes(second, BANNER);
    });
  }

  for (const shell of SHELLS) {
    await step(
      `codex: activity hooks run beside the guard, and go again (${shell})`,
      shell,
      async () => {
        await using home = await liveHome("codex");
        await turnguard("install", "codex", "--activity", "--root", home.root);
        const { hookLines, turns } = await session(codex, home, home.root, shell);
        assertEquals(turns.length, 2);
        for (const line of ["hook: Stop Blocked", "hook: SessionStart Completed"]) {
          assert(hookLines.includes(line), hookLines.join("\n"));
        }
        assertEquals(hookLines.filter((line) => line.endsWith(" Failed")), []);
        await turnguard("uninstall", "codex", "--root", home.root);
        assertEquals((await session(codex, home, home.root, shell)).hookLines, []);
      },
    );
  }

  await step("codex: a turn under a healthy watcher ends at once", TURNGUARD, async () => {
    await using home = await liveHome("codex");
    await using _watch = await startWatch(home);
    const { hookLines, turns } = await session(codex, home, home.root);
    assertEquals(hookLines, ["hook: Stop", "hook: Stop Completed"]);
    assertEquals(turns.length, 1);
  });

  await step("codex: a session below the root is not held up", TURNGUARD, async () => {
    await using home = await liveHome("codex");
    // Codex takes the hooks of the folders above as far as the root of the checkout.
    for (const part of ["objects", "refs"]) {
      Deno.mkdirSync(join(home.root, ".git", part), { recursive: true });
    }
    Deno.writeTextFileSync(join(home.root, ".git", "HEAD"), "ref: refs/heads/main\n");
    const { hookLines, turns } = await session(codex, home, join(home.root, "bin"));
    assertEquals(hookLines, ["hook: Stop", "hook: Stop Completed"]);
    assertEquals(turns.length, 1);
  });
});
