/** `install claude`, with the built executable: what it registers, and what that guards. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
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
import { PLAIN_SHELLS, underEachShell } from "../support/shells.ts";
import { snapshot } from "../support/snapshot.ts";
import {
  RULE_LINE,
  runProgram,
  type RunResult,
  tabulate,
  TURNGUARD,
  verdictOf,
} from "../support/turnguard.ts";

const FILE = HOOK_FILES.claude;
const PAYLOAD = JSON.stringify({
  hook_event_name: "Stop",
  session_id: "s",
  stop_hook_active: false,
});

/** The commands for an executable at `path`. */
function commandsFor(path: string): readonly string[] {
  const start = (id: string) =>
    `: turnguard:claude-${id}; ` +
    `[ -z "\${GROK_AGENT:-}\${GROK_HOOK_EVENT:-}" ] || exit 0; cd / && exec '${path}' `;
  return [
    `${start("stop")}stop --root "$CLAUDE_PROJECT_DIR" --claude`,
    `${start("autoarm")}autoarm --root "$CLAUDE_PROJECT_DIR"`,
  ];
}

/** Runs a hook as Claude Code does, after `script`, which may change the folder. */
function hook(
  home: TestHome,
  command: string,
  options: {
    readonly shell?: string;
    readonly script?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly stdin?: string | null;
  } = {},
): Promise<RunResult> {
  const { shell = "/bin/sh", script = 'cd "$1"', env = {}, stdin = PAYLOAD } = options;
  return runProgram([
    "/bin/sh",
    "-c",
    `${script}; exec "$2" -c "$3"`,
    "sh",
    home.root,
    shell,
    command,
  ], {
    stdin,
    env: {
      LANG: "C.UTF-8",
      CLAUDECODE: "1",
      CLAUDE_PROJECT_DIR: home.root,
      // There is no auto-arm to wait for.
      FM_CLAUDE_AUTOARM_SYNC_WAIT_MS: "0",
      ...env,
    },
  });
}

Deno.test("install claude: writes both hooks in one group and says what is left to do", async () => {
  await using home = makeHome();
  const result = await install("claude", home);
  assertEquals({ status: result.status, stderr: result.stderr }, { status: 0, stderr: "" });
  assertStringIncludes(result.stdout, home.path(FILE));
  assertStringIncludes(result.stdout, "workspace trust dialog");
  const [stop = "", autoarm] = commandsFor(TURNGUARD);
  const command = stop.replace("claude-stop", "record").replace("stop --root", "record --root")
    .replace(" --claude", "");
  const recorder = { hooks: [{ type: "command", command, timeout: 5 }] };
  assertEquals(JSON.parse(hookFile("claude", home)), {
    hooks: {
      Stop: [{
        hooks: [
          { type: "command", command: stop },
          { type: "command", command: autoarm, asyncRewake: true, timeout: 28800 },
        ],
      }],
      StopFailure: [recorder],
      Notification: [{ matcher: "idle_prompt", ...recorder }],
    },
  });
  const names = [...Deno.readDirSync(home.path(".claude"))].map(({ name }) => name);
  assertEquals(names, ["settings.json"]);
});

Deno.test("install claude: another executable replaces both entries where they stand", async () => {
  await using home = makeHome();
  home.write(FILE, '{\n  "model": "x",\n  "hooks": { "PreToolUse": [] }\n}\n');
  await install("claude", home);
  const before = hookFile("claude", home);
  const link = join(home.folder, "turnguard");
  Deno.symlinkSync(TURNGUARD, link);
  const result = await install("claude", home, "--executable", link);
  assertEquals(result.status, 0);
  assertStringIncludes(result.stdout, "up to date");
  assertEquals(commandsIn("claude", home), commandsFor(link));
  assertEquals(hookFile("claude", home), before.replaceAll(`'${TURNGUARD}'`, `'${link}'`));
});

Deno.test("install claude: an entry that was taken out comes back beside the other one", async () => {
  await using home = makeHome();
  const [stop = ""] = commandsFor(TURNGUARD);
  const foreign = { type: "command", command: "true" };
  const group = { hooks: [{ type: "command", command: stop }, foreign] };
  home.write(FILE, JSON.stringify({ hooks: { Stop: [group, { hooks: [foreign] }] } }));
  assertEquals((await install("claude", home)).status, 0);
  const [first = "", second = ""] = commandsFor(TURNGUARD);
  assertEquals(commandsIn("claude", home), [first, "true", second, "true"]);
});

for (const script of ["fm-turnend-guard.sh", "fm-claude-stop-autoarm.sh"]) {
  Deno.test(`install claude: ${script} stays alone where it is registered`, async () => {
    await using home = makeHome();
    const command = `"$CLAUDE_PROJECT_DIR"/bin/${script}`;
    home.write(FILE, JSON.stringify({ hooks: { Stop: [{ hooks: [{ command }] }] } }));
    const before = snapshot(home.folder);
    const result = await install("claude", home);
    assertEquals(result.status, 0);
    assertStringIncludes(result.stdout, "already registered");
    assertEquals(snapshot(home.folder), before);
  });
}

/** Settings, the project's and the operator's own, and whether hooks are said to be off. */
const DISABLED: ReadonlyArray<readonly [project: string, local: string | undefined, file: string]> =
  [
    ['{"disableAllHooks": true}', undefined, FILE],
    ["{}", '{"disableAllHooks": true}', ".claude/settings.local.json"],
    ['{"disableAllHooks": true}', '{"disableAllHooks": false}', ""],
    ['{"disableAllHooks": true}', "// not JSON", FILE],
    ['{"disableAllHooks": "true"}', undefined, ""],
    ['{"disableAllHooks": false}', undefined, ""],
  ];

Deno.test("install claude: hooks that are off altogether are reported and stay off", async () => {
  for (const [project, local, file] of DISABLED) {
    await using home = makeHome();
    home.write(FILE, project);
    if (local !== undefined) home.write(".claude/settings.local.json", local);
    const { status, stdout } = await install("claude", home);
    assertEquals(status, 0);
    assertEquals(stdout.includes("Attention: "), file !== "", stdout);
    assert(file === "" || stdout.includes(`${file} has "disableAllHooks": true`), stdout);
    const { hooks: _, ...rest } = JSON.parse(hookFile("claude", home));
    assertEquals(rest, JSON.parse(project));
    if (local !== undefined) {
      assertEquals(Deno.readTextFileSync(home.path(".claude/settings.local.json")), local);
    }
  }
});

Deno.test("install claude: the executable knows every flag of its own commands", async () => {
  await using home = makeHome();
  await install("claude", home);
  for (const command of commandsIn("claude", home)) {
    assertEquals(verdictOf(await hook(home, command)), "allow");
  }
});

/** What a session that Grok runs or started has in its environment, and whether the hook stands down. */
const GROK: ReadonlyArray<readonly [env: Readonly<Record<string, string>>, standsDown: boolean]> = [
  [{ GROK_AGENT: "1" }, true],
  [{ GROK_HOOK_EVENT: "stop" }, true],
  [{ GROK_AGENT: "1", GROK_HOOK_EVENT: "stop" }, true],
  [{ GROK_AGENT: "", GROK_HOOK_EVENT: "" }, false],
  [{ GROK_SESSION_ID: "g" }, false],
];

Deno.test("install claude: under Grok both commands end before they start anything", async () => {
  await using home = makeHome();
  const link = join(home.folder, "turnguard");
  Deno.symlinkSync(TURNGUARD, link);
  await install("claude", home, "--executable", link);
  home.task();
  const [stop = "", autoarm = ""] = commandsIn("claude", home);
  assertEquals(verdictOf(await hook(home, stop, { env: { GROK_SESSION_ID: "g" } })), "block");
  Deno.removeSync(link);
  for (const [env, standsDown] of GROK) {
    for (const command of [stop, autoarm]) {
      const result = await hook(home, command, { env, stdin: null });
      const silent = verdictOf(result) === "allow";
      assertEquals({ env, silent }, { env, silent: standsDown }, result.stderr);
    }
  }
});

/** Where a session stands when Claude Code runs the command. */
const STANDPOINTS = {
  "the root": 'cd "$1"',
  "a folder inside": 'cd "$1/state"',
  "a removed folder": 'mkdir "$1/gone"; cd "$1/gone"; rmdir "$1/gone"',
} as const;

underEachShell(
  PLAIN_SHELLS,
  (shell) => `install claude: under ${shell} the guard blocks from anywhere`,
  async (path) => {
    const rows = HARD_NAMES.flatMap((name) =>
      Object.entries(STANDPOINTS).map(([standpoint, script]) => ({
        name: `${name}: ${standpoint}`,
        root: name,
        script,
      }))
    );
    const outcomes = await tabulate(rows, (row) => row.name, async (row) => {
      await using home = await makeRegisteredHome("claude", row.root);
      const [command = ""] = commandsIn("claude", home);
      const result = await hook(home, command, { shell: path, script: row.script });
      // Shells complain about a removed folder on the same stream.
      const stderr = result.stderr.slice(Math.max(0, result.stderr.indexOf(RULE_LINE)));
      return verdictOf({ ...result, stderr });
    });
    assertEquals(outcomes, Object.fromEntries(rows.map(({ name }) => [name, "block"])));
  },
);
