/** `uninstall`: every file is what it was before `install`, to the byte. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { makeHome, type TestHome } from "../support/home.ts";
import { HOOK_FILES } from "../support/install.ts";
import { snapshot } from "../support/snapshot.ts";
import { runProgram, type RunResult, runTurnguard } from "../support/turnguard.ts";

const HARNESSES = ["claude", "codex", "cursor", "grok"] as const;

/** Runs a mode for a home, with a folder of the user beside it. */
function run(home: TestHome, mode: string, ...words: readonly string[]): Promise<RunResult> {
  const env = { HOME: join(home.folder, "user") };
  return runTurnguard([mode, ...words, "--root", home.root], { env });
}

/** Everything below a folder but the times of change: a file that is written twice has a new one. */
function contents(folder: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(snapshot(folder)).map((
      [name, what],
    ) => [name, what.replace(/ \d{13}(?= |$)/, "")]),
  );
}

/** The text of a file with an entry of somebody else, and with what the file may have besides. */
const FILES: ReadonlyArray<readonly [name: string, text: string | undefined]> = [
  ["no file", undefined],
  ["an empty object", "{}"],
  ["an empty object over two lines", "{\n}\n"],
  ["blanks in the brackets", '{ "hooks": { } }\n'],
  ["an empty list", '{\n  "hooks": {\n    "Stop": [],\n    "stop": [ ]\n  }\n}\n'],
  ["comments", '// mine\n{\n  "a": 1, // one\n  /* two */ "hooks": { /* none */ }\n  // end\n}\n'],
  ["commas before brackets", '{\n  "hooks": {\n    "X": [],\n  },\n}\n'],
  ["a mark, CRLF and tabs", '\ufeff{\r\n\t"hooks": {\r\n\t\t"X": [{}]\r\n\t},\r\n\t"z": 1\r\n}'],
  ["one line", '{"z":1,"hooks":{"X":[{"hooks":[]}]},"a":"é"}'],
];

for (const harness of HARNESSES) {
  for (const [name, text] of FILES) {
    // Grok's file is ours alone.
    if (harness === "grok" && text !== undefined) continue;
    Deno.test(`uninstall ${harness}: ${name} comes back to the byte`, async () => {
      await using home = makeHome();
      const file = HOOK_FILES[harness];
      if (text !== undefined) home.write(file, text);
      const before = contents(home.root);
      const installed = await run(home, "install", harness);
      assertEquals({ status: installed.status, stderr: installed.stderr }, {
        status: 0,
        stderr: "",
      });
      assertStringIncludes(Deno.readTextFileSync(home.path(file)), `: turnguard:${harness}-stop; `);
      const registered = snapshot(home.root);
      const again = await run(home, "install", harness);
      assertStringIncludes(again.stdout, "Already registered");
      assertEquals(snapshot(home.root), registered);
      const { status, stdout } = await run(home, "uninstall", harness);
      assertEquals(status, 0);
      assertStringIncludes(stdout, home.path(file));
      assertEquals(contents(home.root), before);
      assertEquals(records(home), []);
    });
  }
}

/** What is still remembered. */
function records(home: TestHome): readonly string[] {
  const folder = join(home.folder, "user", ".local", "state", "turnguard", "install");
  try {
    return Array.from(Deno.readDirSync(folder), ({ name }) => name);
  } catch {
    return [];
  }
}

Deno.test("uninstall: what others have added since stays, and so does the file", async () => {
  await using home = makeHome();
  await run(home, "install", "claude");
  const file = home.path(HOOK_FILES.claude);
  const text = Deno.readTextFileSync(file);
  Deno.writeTextFileSync(file, text.replace('{\n  "hooks"', '{\n  "model": "x",\n  "hooks"'));
  assertEquals((await run(home, "uninstall", "claude")).status, 0);
  assertEquals(Deno.readTextFileSync(file), '{\n  "model": "x"\n}\n');
});

Deno.test("uninstall: a folder that was made for ours stays while something else is in it", async () => {
  await using home = makeHome();
  await run(home, "install", "cursor");
  home.write(".cursor/mine");
  assertEquals((await run(home, "uninstall", "cursor")).status, 0);
  assertEquals(Array.from(Deno.readDirSync(home.path(".cursor")), ({ name }) => name), ["mine"]);
});

Deno.test("uninstall: without a memory nothing of others goes", async () => {
  await using home = makeHome();
  home.write(HOOK_FILES.claude, '{"a": 1, "hooks": {"X": []}}\n');
  const before = contents(home.root);
  await runTurnguard(["install", "claude", "--root", home.root]);
  assertEquals((await runTurnguard(["uninstall", "claude", "--root", home.root])).status, 0);
  assertEquals(contents(home.root), before);
});

Deno.test("uninstall: nothing of ours is no failure, and nothing is touched", async () => {
  await using home = makeHome();
  home.write(HOOK_FILES.codex, '{"hooks": {"Stop": []}}');
  const before = snapshot(home.folder);
  for (const words of [["codex"], ["all"]]) {
    const { status, stdout } = await run(home, "uninstall", ...words);
    assertEquals(status, 0);
    assertStringIncludes(stdout, "nothing was written");
    assertEquals(snapshot(home.folder), before);
  }
});

Deno.test("uninstall: a file that cannot be read is refused with its place", async () => {
  await using home = makeHome();
  home.write(HOOK_FILES.codex, '{\n  "a" 1\n}');
  home.write(HOOK_FILES.claude, "{}");
  await run(home, "install", "claude");
  const before = snapshot(home.root);
  const { status, stderr } = await run(home, "uninstall", "claude", "codex");
  assertEquals(status, 1);
  assertStringIncludes(stderr, `${home.path(HOOK_FILES.codex)}:2:7: `);
  assertEquals(snapshot(home.root), before, "of several harnesses all are done or none");
});

Deno.test("uninstall: --dry-run prints a patch that does it", async () => {
  for (const [name, text] of FILES) {
    await using home = makeHome({ name: "a b" });
    if (text !== undefined) home.write(HOOK_FILES.cursor, text);
    await run(home, "install", "cursor");
    const installed = snapshot(home.root);
    const { status, stdout } = await run(home, "uninstall", "cursor", "--dry-run");
    assertEquals(status, 0);
    assertEquals(snapshot(home.root), installed);
    const patched = await runProgram(
      ["/usr/bin/patch", "-p1", "--binary", "--remove-empty-files", "-d", home.root],
      { stdin: stdout },
    );
    assertEquals(patched.status, 0, `${name}: ${patched.stdout}`);
    const path = home.path(HOOK_FILES.cursor);
    if (text === undefined) {
      assert(!stdout.includes("+++ b/"));
      continue;
    }
    assertEquals(Deno.readTextFileSync(path), text, name);
  }
});

Deno.test("uninstall: the hooks of the scripts come back where ours stand in their place", async () => {
  await using home = makeHome();
  const text =
    '{\n  "hooks": {\n    "Stop": [\n      { "hooks": [ {"timeout": 9, "type":"command",\n' +
    '        "command": "\\"$CLAUDE_PROJECT_DIR\\"/bin/fm-turnend-guard.sh --claude"} ] },\n' +
    '      {"hooks":[{"command":"bin/fm-claude-stop-autoarm.sh"}]}\n    ]\n  }\n}\n';
  home.write(HOOK_FILES.claude, text);
  const left = await run(home, "install", "claude");
  assertStringIncludes(left.stdout, "--replace-shell");
  assertEquals(Deno.readTextFileSync(home.path(HOOK_FILES.claude)), text);

  const dry = await run(home, "install", "claude", "--replace-shell", "--dry-run");
  assertStringIncludes(
    dry.stdout,
    '-      {"hooks":[{"command":"bin/fm-claude-stop-autoarm.sh"}]}\n',
  );
  assertEquals(Deno.readTextFileSync(home.path(HOOK_FILES.claude)), text);

  const { status } = await run(home, "install", "claude", "--replace-shell");
  assertEquals(status, 0);
  const now = Deno.readTextFileSync(home.path(HOOK_FILES.claude));
  assert(!now.includes("fm-"));
  assert(now.indexOf("claude-stop;") < now.indexOf("claude-autoarm;"));
  assertStringIncludes((await run(home, "install", "claude")).stdout, "Already registered");
  await run(home, "uninstall", "claude");
  assertEquals(Deno.readTextFileSync(home.path(HOOK_FILES.claude)), text);
});

Deno.test("uninstall: --replace-shell needs a place to remember what it takes out", async () => {
  await using home = makeHome();
  home.write(
    HOOK_FILES.codex,
    '{"hooks":{"Stop":[{"hooks":[{"command":"fm-turnend-guard.sh"}]}]}}',
  );
  const before = snapshot(home.folder);
  const words = ["install", "codex", "--replace-shell", "--root", home.root];
  const { status, stderr } = await runTurnguard(words);
  assertEquals(status, 1);
  assertStringIncludes(stderr, "cannot be remembered");
  assertEquals(snapshot(home.folder), before);
});
