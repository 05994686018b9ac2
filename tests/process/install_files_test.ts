/** `install` and the places of files: links, files of the user, files that may not be written, editors. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { parse } from "jsonc-parser";
import { makeHome, type TestHome } from "../support/home.ts";
import { commandsIn, HOOK_FILES, hookFile } from "../support/install.ts";
import { snapshot } from "../support/snapshot.ts";
import { runProgram, type RunResult, runTurnguard, TURNGUARD } from "../support/turnguard.ts";

/** The folder of the user. */
function userFolder(home: TestHome): string {
  return join(home.folder, "user");
}

function run(home: TestHome, ...words: readonly string[]): Promise<RunResult> {
  return runTurnguard([...words, "--root", home.root], { env: { HOME: userFolder(home) } });
}

/** Writes a file into the folder of the user. */
function writeForUser(home: TestHome, name: string, text: string): string {
  const path = join(userFolder(home), name);
  Deno.mkdirSync(join(path, ".."), { recursive: true });
  Deno.writeTextFileSync(path, text);
  return path;
}

Deno.test("install cursor: the entry stands in the event's own list, above the loop ceiling", async () => {
  await using home = makeHome();
  const { status, stdout } = await run(home, "install", "cursor");
  assertEquals(status, 0);
  assertMatch(stdout, /trusted\s+workspace/);
  const value: unknown = JSON.parse(hookFile("cursor", home));
  const command =
    ': turnguard:cursor-stop; [ -z "${GROK_AGENT:-}${GROK_HOOK_EVENT:-}" ] || exit 0; ' +
    `cd / && exec '${TURNGUARD}' park --root "$CURSOR_PROJECT_DIR"`;
  assertEquals(value, {
    version: 1,
    hooks: { stop: [{ type: "command", command, timeout: 28800, loop_limit: 200 }] },
  });
});

Deno.test("install cursor: the version of a file that is there stays, or stays away", async () => {
  for (const head of ['"version": 2, ', ""]) {
    await using home = makeHome();
    home.write(HOOK_FILES.cursor, `{${head}"hooks": {"stop": [{"command": "true"}]}}`);
    assertEquals((await run(home, "install", "cursor")).status, 0);
    assertEquals(
      hookFile("cursor", home).startsWith(`{${head}"hooks": {"stop": [{"command": "true"}, `),
      true,
    );
  }
});

Deno.test("install cursor: the scripts' test for workers of a task is kept by a replacement", async () => {
  await using home = makeHome();
  const test = '[ -z "${FM_TASK_ID:-}" ] || exit 0; ';
  const command = `${test}exec bin/fm-turnend-guard-cursor.sh`;
  const text = JSON.stringify({ version: 1, hooks: { stop: [{ command, timeout: 5 }] } });
  home.write(HOOK_FILES.cursor, text);
  assertEquals((await run(home, "install", "cursor", "--replace-shell")).status, 0);
  assertStringIncludes(
    hookFile("cursor", home),
    JSON.stringify(`: turnguard:cursor-stop; ${test}`).slice(1, -1),
  );
  assertStringIncludes((await run(home, "install", "cursor")).stdout, "Already registered");
  await run(home, "uninstall", "cursor");
  assertEquals(hookFile("cursor", home), text);
});

Deno.test("install: comments, commas and a byte order mark stay, and it says who may not read them", async () => {
  for (
    const [text, what] of [
      ['{\n  // mine\n  "a": [1, 2, ],\n}\n', "2:3 has a comment"],
      ['{\n  "a": [1, 2, ]\n}\n', "2:13 has a comma before a closing bracket"],
      ["\ufeff{}\r\n", "1:1 has a byte order mark"],
    ] as const
  ) {
    await using home = makeHome();
    home.write(HOOK_FILES.claude, text);
    const { status, stdout } = await run(home, "install", "claude");
    assertEquals(status, 0);
    assertStringIncludes(stdout.replaceAll(/\n */g, " "), what);
    const after = hookFile("claude", home);
    const rest = after.replace(/,?\s*"hooks": \{[^]*\}(?=,?\r?\n\}|\r\n\}\r\n)/, "");
    assertEquals(rest.replaceAll(/[\s,]/g, ""), text.replaceAll(/[\s,]/g, ""));
    const value: unknown = parse(after.replace(/^\ufeff/, ""), [], { allowTrailingComma: true });
    assert(typeof value === "object" && value !== null && "hooks" in value);
  }
});

Deno.test("install --user: a file among other dotfiles is written through its link", async () => {
  await using home = makeHome();
  const real = writeForUser(home, "dotfiles/claude.json", '{\n  "model": "x"\n}\n');
  Deno.chmodSync(real, 0o600);
  Deno.mkdirSync(join(userFolder(home), ".claude"));
  const link = join(userFolder(home), ".claude", "settings.json");
  Deno.symlinkSync("../dotfiles/claude.json", link);
  const untouched = snapshot(home.root);
  const { status, stdout, stderr } = await run(home, "install", "claude", "--user");
  assertEquals({ status, stderr }, { status: 0, stderr: "" });
  assertStringIncludes(stdout, link);
  assertEquals(Deno.readLinkSync(link), "../dotfiles/claude.json");
  assertStringIncludes(Deno.readTextFileSync(real), "turnguard:claude-stop");
  assertEquals((Deno.statSync(real).mode ?? 0) & 0o777, 0o600);
  assertEquals(snapshot(home.root), untouched);
  assertEquals((await run(home, "uninstall", "claude", "--user")).status, 0);
  assertEquals(Deno.readTextFileSync(real), '{\n  "model": "x"\n}\n');
  assertEquals(Deno.readLinkSync(link), "../dotfiles/claude.json");
});

Deno.test("install --user: the harness's own variable names the folder; no home is needed", async () => {
  await using home = makeHome();
  const env = { HOME: userFolder(home), CLAUDE_CONFIG_DIR: join(home.folder, "other") };
  const words = ["install", "claude", "--user", "--root", "/"];
  assertEquals((await runTurnguard(words, { env })).status, 0);
  assertStringIncludes(
    Deno.readTextFileSync(join(home.folder, "other", "settings.json")),
    "turnguard:claude-autoarm",
  );
  const dry = await runTurnguard(["un" + words[0], ...words.slice(1), "--dry-run"], { env });
  assertMatch(dry.stdout, /^--- a\/\S*\/other\/settings\.json\n\+\+\+ \/dev\/null\n/);
});

Deno.test("install --user: a harness whose hook is tied to its home is refused, and says why", async () => {
  await using home = makeHome();
  const before = snapshot(home.folder);
  const { status, stderr } = await run(home, "install", "codex", "--user");
  assertEquals(status, 1);
  assertStringIncludes(stderr, "tied to the home");
  assertStringIncludes(stderr, "leave --user out");
  assertEquals(snapshot(home.folder), before);
});

Deno.test("install --user: says that the home has the hook as well", async () => {
  await using home = makeHome();
  assertEquals((await run(home, "install", "cursor")).status, 0);
  const { status, stdout } = await run(home, "install", "cursor", "--user");
  assertEquals(status, 0);
  assertStringIncludes(stdout, "Attention: It is registered in");
  assertMatch(stdout, /turnguard\s+uninstall\s+cursor\n/);
});

Deno.test("install codex: says that its configuration has hooks as well", async () => {
  await using home = makeHome();
  home.write(".codex/config.toml", 'model = "x"\n[[hooks.Stop]]\n');
  const { status, stdout } = await run(home, "install", "codex");
  assertEquals(status, 0);
  assertStringIncludes(stdout, "Attention: .codex/config.toml has hooks as well");
});

/** What lies in place of the hook file, and why it is refused. */
const PLACES: ReadonlyArray<readonly [name: string, make: (path: string) => void, why: string]> = [
  ["a link to itself", (path) => Deno.symlinkSync("settings.json", path), "does not exist"],
  ["a link to nothing", (path) => Deno.symlinkSync("gone.json", path), "does not exist"],
  [
    "a file that is read-only",
    (path) => {
      Deno.writeTextFileSync(path, "{}");
      Deno.chmodSync(path, 0o444);
    },
    "is read-only; nothing was written; make it writable",
  ],
  [
    "a pipe",
    (path) => {
      new Deno.Command("/usr/bin/mkfifo", { args: [path] }).outputSync();
    },
    "is not a regular file",
  ],
];

for (const [name, make, why] of PLACES) {
  Deno.test(`install: ${name} is refused, and stays`, async () => {
    await using home = makeHome();
    home.write(".claude/other");
    make(home.path(HOOK_FILES.claude));
    const before = snapshot(home.folder);
    const { status, stderr } = await run(home, "install", "claude", "codex");
    assertEquals(status, 1);
    assertStringIncludes(stderr, home.path(HOOK_FILES.claude));
    assertStringIncludes(stderr, why);
    assertEquals(snapshot(home.folder), before);
  });
}

Deno.test("install: a loop of links in the folders is refused", async () => {
  await using home = makeHome();
  Deno.symlinkSync(".codex", home.path(".codex"));
  const { status, stderr } = await run(home, "install", "codex");
  assertEquals(status, 1);
  assertStringIncludes(stderr, "is not a folder");
  assertEquals(Deno.readLinkSync(home.path(".codex")), ".codex");
});

/** Bytes whose reading takes long enough for an editor to save another file. */
const LONG = `{"a": [${"[1, 2, 3],\n".repeat(4_000)}0]}`;

Deno.test("install: what an editor saves between reading and writing is not lost", async () => {
  const saved = '{"saved": "by an editor"}\n';
  for (let attempt = 0;; attempt++) {
    await using home = makeHome();
    home.write(HOOK_FILES.claude, "{}\n");
    home.write(HOOK_FILES.codex, LONG);
    const ended = run(home, "install", "codex", "claude");
    // When it reads cannot be seen from here: every try saves a little later.
    await new Promise((resolve) => setTimeout(resolve, 20 * attempt));
    Deno.writeTextFileSync(home.path(HOOK_FILES.claude), saved);
    const { status, stderr } = await ended;
    const text = hookFile("claude", home);
    assertStringIncludes(text, '"saved": "by an editor"', "never lost, whenever it was saved");
    if (status === 0 && attempt < 40) continue;
    assertStringIncludes(stderr, `${home.path(HOOK_FILES.claude)} was changed by somebody else`);
    assertEquals({ status, text }, { status: 1, text: saved });
    assertEquals(hookFile("codex", home), LONG, "all are registered or none");
    return;
  }
});

Deno.test("install all: those that are in use, by their folders or their programs", async () => {
  await using home = makeHome();
  const none = await run(home, "install", "all");
  assertEquals(none.status, 1);
  assertStringIncludes(none.stderr, "no harness was found");

  home.write(".cursor/rules");
  writeForUser(home, ".codex/config.toml", "");
  const { status, stdout } = await run(home, "install", "all");
  assertEquals(status, 0);
  assertStringIncludes(hookFile("cursor", home), "turnguard:cursor-stop");
  assertStringIncludes(hookFile("codex", home), "turnguard:codex-stop");
  assertMatch(stdout, /Passed over[^:]*: [^.]*claude/);
  assertEquals((await run(home, "uninstall", "all")).status, 0);
  assertEquals(Array.from(Deno.readDirSync(home.path(".cursor")), ({ name }) => name), ["rules"]);
});

Deno.test("install: --json tells what was done, what would be, and what was refused", async () => {
  await using home = makeHome();
  const told = async (...words: readonly string[]): Promise<unknown> =>
    JSON.parse((await run(home, "install", ...words, "--json")).stdout);
  const path = home.path(HOOK_FILES.cursor);
  const dry = await told("cursor", "--dry-run");
  assertMatch(JSON.stringify(dry), /"dryRun":true.*"outcome":"added","diff":"--- \/dev\/null/);
  const done = await told("cursor");
  assertMatch(JSON.stringify(done), /"ok":true.*"harness":"cursor"/);
  assertStringIncludes(JSON.stringify(done), JSON.stringify(path));
  assertMatch(JSON.stringify(await told("cursor")), /"outcome":"none"/);
  home.write(HOOK_FILES.codex, "[");
  assertMatch(JSON.stringify(await told("codex")), /"ok":false.*"refused":".*:1:2: /);
});

Deno.test("install: a diff of names with blanks and of CRLF is what patch applies", async () => {
  await using home = makeHome({ name: "a b" });
  const file = writeForUser(home, "a dir/settings.json", '{\r\n\t"z": 1\r\n}');
  const env = { HOME: userFolder(home), CLAUDE_CONFIG_DIR: join(file, "..") };
  const words = ["install", "claude", "--user"];
  const { stdout } = await runTurnguard([...words, "--dry-run"], { env });
  const command = ["/usr/bin/patch", "-p1", "--binary", "-d", "/"];
  const patched = await runProgram(command, { stdin: stdout });
  assertEquals(patched.status, 0, patched.stdout);
  const expected = Deno.readTextFileSync(file);
  Deno.writeTextFileSync(file, '{\r\n\t"z": 1\r\n}');
  await runTurnguard(words, { env });
  assertEquals(Deno.readTextFileSync(file), expected);
});

Deno.test("install --activity: what is registered records the session, in a project that is no home too", async () => {
  await using home = makeHome();
  home.remove("AGENTS.md");
  const { status, stderr } = await run(home, "install", "claude", "--activity");
  assertEquals({ status, stderr }, { status: 0, stderr: "" });
  const [command = ""] = new Set(commandsIn("claude", home));
  const payload = JSON.stringify({
    session_id: "S1",
    hook_event_name: "PreToolUse",
    tool_name: "Bash",
    tool_use_id: "T1",
    cwd: home.root,
  });
  const state = join(home.folder, "state");
  const recorded = await runProgram(["/bin/sh", "-c", command], {
    env: { HOME: userFolder(home), XDG_STATE_HOME: state },
    stdin: payload,
  });
  assertEquals(recorded, { status: 0, stdout: "", stderr: "" });
  const records = await runProgram(["/usr/bin/find", state, "-type", "f", "-name", "*.json"]);
  assertMatch(records.stdout, /\.json\n/);
  assertEquals((await run(home, "uninstall", "claude")).status, 0);
  assertEquals(
    Array.from(Deno.readDirSync(home.root), ({ name }) => name).includes(".claude"),
    false,
  );
});
