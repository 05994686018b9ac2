/** `install codex`, with the built executable: what it registers, and what that guards. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { makeHome, type TestHome } from "../support/home.ts";
import {
  commandsIn,
  HARD_NAMES,
  HOOK_FILES,
  hookFile,
  install,
  makeRegisteredHome,
} from "../support/install.ts";
import { ALL_SHELLS, underEachShell } from "../support/shells.ts";
import { runProgram, runTurnguard, tabulate, TURNGUARD } from "../support/turnguard.ts";

const PAYLOAD = JSON.stringify({ hook_event_name: "Stop", cwd: "/", stop_hook_active: false });

/** The command that Codex would run. */
function commandIn(home: TestHome): string {
  return commandsIn("codex", home).join("\n");
}

Deno.test("install codex: writes the hook file and says that Codex has to be asked", async () => {
  await using home = makeHome();
  const result = await install("codex", home);
  assertEquals({ status: result.status, stderr: result.stderr }, { status: 0, stderr: "" });
  assertStringIncludes(result.stdout, home.path(HOOK_FILES.codex));
  assertStringIncludes(result.stdout, "/hooks");
  assertStringIncludes(result.stdout, "--dangerously-bypass-hook-trust");
  assertEquals(
    commandIn(home),
    `: turnguard:codex-stop; export OLDPWD="$PWD"; cd / && exec '${TURNGUARD}' stop ` +
      `--root '${home.root}' --anchor-cwd codex --session-dir "$OLDPWD"`,
  );
  assertEquals([...Deno.readDirSync(home.path(".codex"))].map(({ name }) => name), ["hooks.json"]);
});

Deno.test("install codex: another executable replaces the entry and its trust is lost", async () => {
  await using home = makeHome();
  await install("codex", home);
  const link = join(home.folder, "turnguard");
  Deno.symlinkSync(TURNGUARD, link);
  const result = await install("codex", home, "--executable", link);
  assertEquals(result.status, 0);
  assertStringIncludes(result.stdout, "reviewed again");
  assertStringIncludes(commandIn(home), `exec '${link}' stop`);
  assertEquals(hookFile("codex", home).split("turnguard:codex-stop").length, 2);
});

Deno.test("install codex: registers the name it was started as, with its links", async () => {
  await using home = makeHome();
  const folder = join(home.folder, "bin");
  const link = join(folder, "tg");
  Deno.mkdirSync(folder);
  Deno.symlinkSync(TURNGUARD, link);
  const starts: ReadonlyArray<readonly [cwd: string, word: string]> = [
    ["/", link],
    [folder, "./tg"],
    ["/", "tg"],
  ];
  for (const [cwd, word] of starts) {
    const result = await runProgram(
      ["/bin/sh", "-c", `cd "$1" && exec ${word} install codex --root "$2"`, "sh", cwd, home.root],
      { env: { PATH: `${folder}:/usr/bin:/bin` } },
    );
    assertEquals({ word, status: result.status }, { word, status: 0 });
    assertStringIncludes(commandIn(home), `exec '${link}' stop`);
    home.remove(HOOK_FILES.codex);
  }
});

Deno.test("install codex: finds the root from a folder inside it", async () => {
  await using home = makeHome();
  const result = await runTurnguard(["install", "codex"], { cwd: home.path("state") });
  assertEquals(result.status, 0);
  assertStringIncludes(commandIn(home), `--root '${home.root}' `);
});

/** Where a session stands when Codex runs the command, and whether its turn is then blocked. */
const STANDPOINTS = {
  "the root": { script: 'cd "$1"', status: 2 },
  "the root, with an old OLDPWD": { script: 'cd "$1"; OLDPWD=/usr; export OLDPWD', status: 2 },
  "a folder inside": { script: 'cd "$1/state"', status: 0 },
  "a folder elsewhere": { script: "cd /usr", status: 0 },
  "a removed folder": { script: 'mkdir "$1/gone"; cd "$1/gone"; rmdir "$1/gone"', status: 2 },
  "a removed folder, with nothing known about it": {
    script: 'mkdir "$1/gone"; cd "$1/gone"; rmdir "$1/gone"; unset PWD OLDPWD',
    status: 2,
  },
} as const;

underEachShell(
  ALL_SHELLS,
  (shell) => `install codex: under ${shell} the hook blocks a session in the root, and only that`,
  async (path) => {
    const rows = HARD_NAMES.flatMap((name) =>
      Object.entries(STANDPOINTS).map(([standpoint, expected]) => ({
        name: `${name}: ${standpoint}`,
        root: name,
        ...expected,
      }))
    );
    const outcomes = await tabulate(rows, (row) => row.name, async (row) => {
      await using home = await makeRegisteredHome("codex", row.root);
      const command = commandIn(home);
      const { status, stderr } = await runProgram(
        [
          "/bin/sh",
          "-c",
          `${row.script}; exec "$2" -lc "$3"`,
          "sh",
          home.root,
          path,
          command,
        ],
        { stdin: PAYLOAD, env: { HOME: home.folder, LANG: "C.UTF-8" } },
      );
      return `${status}${stderr.includes("TURN WOULD END BLIND") ? " with the banner" : ""}`;
    });
    const expected = rows.map(({ name, status }) => [
      name,
      status === 2 ? "2 with the banner" : "0",
    ]);
    assertEquals(outcomes, Object.fromEntries(expected));
  },
);
