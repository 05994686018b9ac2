/** `stop --grok`: builds of Grok that wait for a verdict, builds that do not, and payloads of neither. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { dirname, fromFileUrl, join } from "@std/path";
import { commandsIn, install } from "../support/install.ts";
import { makeHome, type TestHome } from "../support/home.ts";
import { runProgram, type RunResult, runTurnguard } from "../support/turnguard.ts";

const PAYLOADS = join(dirname(dirname(fromFileUrl(import.meta.url))), "fixtures", "payloads");

/** A payload, the exit status, and the session that is resumed because of it. */
const FIXTURES: ReadonlyArray<readonly [file: string, status: 0 | 2, resumed?: string]> = [
  ["grok-stop-native-initial", 2],
  ["grok-stop-native-continuation", 0],
  ["grok-stop-snake-initial", 2],
  ["grok-stop-snake-continuation", 0],
  ["grok-stop-camel-true-over-snake-false", 0],
  ["grok-stop-camel-false-over-snake-true", 2],
  ["grok-stop-camel-boolean-snake-number", 2],
  ["grok-stop-camel-string", 0],
  ["grok-stop-camel-null-snake-false", 0],
  ["grok-stop-snake-number", 0],
  ["grok-stop-duplicate-camel", 0],
  ["grok-stop-duplicate-session", 0],
  ["grok-stop-object-session", 0],
  ["grok-stop-two-documents", 0],
  ["grok-stop-blank", 0],
  ["grok-stop-truncated", 0],
  ["grok-stop-legacy-absent", 0, "grok-sess-0001"],
  ["grok-stop-legacy-minimal", 0, "grok-sess-0002"],
  ["grok-stop-legacy-no-session", 0],
  ["grok-stop-legacy-empty-session", 0],
  ["grok-stop-legacy-numeric-session", 0],
  ["grok-stop-session-end", 2],
  ["claude-stop-ordinary", 2],
  ["cursor-stop-ordinary", 0],
];

function payload(name: string): string {
  return Deno.readTextFileSync(join(PAYLOADS, `${name}.json`));
}

/** A home with a task in flight, and a `grok` that writes down how it was called. */
class GrokHome implements AsyncDisposable {
  readonly home: TestHome;
  readonly #log: string;
  readonly #bin: string;

  constructor(name = "home") {
    this.home = makeHome({ name }).task();
    this.#log = join(this.home.folder, "called");
    this.#bin = join(this.home.folder, "programs");
    Deno.mkdirSync(this.#bin);
    const script =
      `#!/bin/sh\nprintf '%s\\n' "$GROK_TURNEND_GUARD_ACTIVE" "$GROK_HOME" "$@" >> '${this.#log}'\necho noise; echo noise >&2\nexit 7\n`;
    Deno.writeTextFileSync(join(this.#bin, "grok"), script, { mode: 0o755 });
  }

  get env(): Readonly<Record<string, string>> {
    return { HOME: this.home.folder, PATH: `relative:${this.#bin}:/usr/bin:/bin` };
  }

  stop(
    stdin: string,
    env: Readonly<Record<string, string | undefined>> = {},
    root: readonly string[] = ["--root", this.home.root],
  ): Promise<RunResult> {
    return runTurnguard(["stop", "--grok", ...root], { stdin, env: { ...this.env, ...env } });
  }

  /** How `grok` was called, the latch and its folder first; the empty text when it was not. */
  get called(): string {
    try {
      return Deno.readTextFileSync(this.#log);
    } catch {
      return "";
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.home[Symbol.asyncDispose]();
  }
}

for (const [file, status, resumed] of FIXTURES) {
  Deno.test(`stop --grok: ${file}`, async () => {
    await using grok = new GrokHome();
    const result = await grok.stop(payload(file));
    assertEquals({ status: result.status, stdout: result.stdout }, { status, stdout: "" });
    assertEquals(result.stderr.includes("TURN WOULD END BLIND"), status === 2);
    if (status === 2) assertStringIncludes(result.stderr, "bin/fm-watch-arm.sh");
    if (resumed === undefined) return assertEquals(grok.called, "");
    const lines = grok.called.split("\n");
    assertEquals(lines.slice(0, 9), [
      "1",
      join(grok.home.folder, ".grok"),
      "--resume",
      resumed,
      "--cwd",
      grok.home.root,
      "--output-format",
      "plain",
      "-p",
    ]);
    assert(lines[9]?.startsWith("\u2063FIRSTMATE_OP: v1 turn-end-guard: TURN WOULD END BLIND"));
    assertStringIncludes(grok.called, "SUPERVISION IS OFF");
    assertEquals(grok.called.split("--resume").length, 2, "exactly one");
  });
}

Deno.test("stop --grok: a session is not resumed twice, without need, or without Grok", async () => {
  await using grok = new GrokHome();
  const legacy = payload("grok-stop-legacy-absent");
  const nothing = { status: 0, stdout: "", stderr: "" };
  assertEquals(await grok.stop(legacy, { GROK_TURNEND_GUARD_ACTIVE: "1" }), nothing);
  assertEquals(await grok.stop(legacy, { PATH: "/usr/bin:/bin" }), nothing);
  grok.home.remove("AGENTS.md");
  assertEquals(await grok.stop(legacy), nothing);
  assertEquals(grok.called, "");
});

Deno.test("stop --grok: the latch says nothing to a build that waits for a verdict", async () => {
  await using grok = new GrokHome();
  const { status } = await grok.stop(
    payload("grok-stop-native-initial"),
    { GROK_TURNEND_GUARD_ACTIVE: "1", PATH: "/usr/bin:/bin" },
  );
  assertEquals(status, 2);
});

Deno.test("stop --grok: the tree is the workspace, and nothing else is guessed", async () => {
  await using grok = new GrokHome();
  const native = payload("grok-stop-native-initial");
  const root = `${grok.home.root}/`;
  const cases: ReadonlyArray<
    readonly [env: Record<string, string>, root: string[], status: 0 | 2]
  > = [
    [{ GROK_WORKSPACE_ROOT: root }, [], 2],
    [{ CLAUDE_PROJECT_DIR: root }, [], 2],
    [{ GROK_WORKSPACE_ROOT: "/", CLAUDE_PROJECT_DIR: root }, [], 0],
    [{}, ["--root", root], 2],
    [{}, [], 0],
  ];
  for (const [env, words, status] of cases) {
    assertEquals((await grok.stop(native, env, words)).status, status, JSON.stringify(env));
  }
});

Deno.test("stop --grok: in a home of the suite its guard has to be one that can be started", async () => {
  await using grok = new GrokHome();
  const native = payload("grok-stop-native-initial");
  const script = grok.home.path("bin/fm-turnend-guard.sh");
  Deno.writeTextFileSync(script, "#!/bin/sh\n", { mode: 0o644 });
  assertEquals((await grok.stop(native)).status, 0);
  Deno.chmodSync(script, 0o755);
  assertEquals((await grok.stop(native)).status, 2);
});

Deno.test("install grok: what it registers blocks from a folder that is gone, in a hard-named home", async () => {
  await using grok = new GrokHome(`it's a "home" $x é`);
  const { status, stdout } = await install("grok", grok.home);
  assertEquals(status, 0);
  assertMatch(stdout, /\/hooks-trust/);
  const [command = ""] = commandsIn("grok", grok.home);
  const run = (env: Readonly<Record<string, string>>): Promise<RunResult> =>
    runProgram([
      "/bin/sh",
      "-c",
      'mkdir "$1" && cd "$1" && rmdir "$1" && exec sh -c "$2"',
      "sh",
      join(grok.home.folder, "gone"),
      command,
    ], { env: { ...grok.env, ...env }, stdin: payload("grok-stop-native-initial") });
  const blocked = await run({ GROK_WORKSPACE_ROOT: grok.home.root, GROK_HOOK_EVENT: "stop" });
  assertEquals(blocked.status, 2);
  assertStringIncludes(blocked.stderr, "TURN WOULD END BLIND");
  assertEquals((await run({})).status, 0);
});

Deno.test("install grok: a foreign file of that name is refused, and stays", async () => {
  await using grok = new GrokHome();
  const file = ".grok/hooks/fm-primary-turnend-guard.json";
  grok.home.write(file, '{"hooks": {"Stop": [{"hooks": [{"command": "true"}]}]}}');
  const before = Deno.readTextFileSync(grok.home.path(file));
  const { status, stderr } = await install("grok", grok.home);
  assertEquals(status, 1);
  assertStringIncludes(stderr, "somebody else's");
  assertEquals(Deno.readTextFileSync(grok.home.path(file)), before);
});
