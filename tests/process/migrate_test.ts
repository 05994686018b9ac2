/**
 * `migrate`: scripts become forwarders, do what they did, and come back as they were.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { SUITE_SCRIPTS } from "../../src/harness/suite_scripts.ts";
import { makeHome, type TestHome } from "../support/home.ts";
import { textOf } from "../support/files.ts";
import { until } from "../support/processes.ts";
import { snapshot } from "../support/snapshot.ts";
import { FIRST_STOP, runProgram, type RunResult, runTurnguard } from "../support/turnguard.ts";

/** Puts a script of the suite's name there; it says who it is. */
function addScript(home: TestHome, name: string, mode = 0o755): void {
  home.write(`bin/${name}`, `#!/usr/bin/env bash\necho original ${name} "$@"\n`);
  Deno.chmodSync(home.path(`bin/${name}`), mode);
}

async function migrate(home: TestHome, ...args: readonly string[]): Promise<RunResult> {
  return await runTurnguard(["migrate", ...home.args, ...args]);
}

Deno.test("migrate: every script forwards, and comes back with its bytes and its mode", async () => {
  await using home = makeHome();
  for (const { name } of SUITE_SCRIPTS) {
    addScript(home, name, name.includes("grok") ? 0o700 : 0o755);
  }
  addScript(home, "fm-lock.sh");
  const before = snapshot(home.root);
  const there = await migrate(home);
  assertEquals([there.status, there.stderr], [0, ""]);
  for (const { name, words } of SUITE_SCRIPTS) {
    assertStringIncludes(there.stdout, `${name} `);
    const text = Deno.readTextFileSync(home.path(`bin/${name}`));
    assert(new RegExp(`^exec '.*' ${words.join(" ")}`, "m").test(text), text);
  }
  assertStringIncludes(Deno.readTextFileSync(home.path("bin/fm-lock.sh")), "original");
  const again = snapshot(home.root);
  assertEquals((await migrate(home)).status, 0);
  assertEquals(snapshot(home.root), again);
  assertEquals((await migrate(home, "--undo")).status, 0);
  assertEquals(snapshot(home.root), before);
});

Deno.test("migrate: a dry run says the same and writes nothing", async () => {
  await using home = makeHome();
  addScript(home, "fm-watch.sh");
  home.write(
    ".claude/settings.json",
    '{\n  "hooks": { "Stop": [{ "hooks": [{ "command": "bin/fm-turnend-guard.sh --claude" }] }] }\n}\n',
  );
  home.write("state/.claude-autoarm-epoch", "torn");
  const before = snapshot(home.root);
  const { status, stdout } = await migrate(home, "--dry-run");
  assertEquals(status, 0);
  assertEquals(snapshot(home.root), before);
  assertStringIncludes(stdout, "would forward to: turnguard watch\n");
  assertStringIncludes(stdout, ".claude/settings.json:2  fm-turnend-guard.sh\n");
  assertStringIncludes(stdout, "turnguard install claude --replace-shell\n");
  assertStringIncludes(stdout, ".claude-autoarm-epoch  unusable  not in the expected form");
  assertStringIncludes(stdout, "Dry run: nothing was written.");
});

Deno.test("migrate: a forwarder blocks as the guard does, from any folder, and hands its words on", async () => {
  await using home = makeHome();
  addScript(home, "fm-turnend-guard.sh");
  addScript(home, "fm-procevent.sh");
  assertEquals((await migrate(home)).status, 0);
  home.task("crawl");
  const script = home.path("bin/fm-turnend-guard.sh");
  for (
    const [command, cwd] of [[[script], "/"], [
      ["./fm-turnend-guard.sh"],
      home.path("bin"),
    ]] as const
  ) {
    const { status, stderr } = await runProgram(command, { stdin: FIRST_STOP, cwd });
    assertEquals(status, 2);
    assertStringIncludes(stderr, "1 task(s) in flight");
  }
  const bare = await runProgram(["/bin/sh", "fm-turnend-guard.sh"], {
    stdin: FIRST_STOP,
    cwd: home.path("bin"),
  });
  assertEquals(bare.status, 2);
  const list = await runProgram([home.path("bin/fm-procevent.sh"), "list"], {
    env: { HOME: home.folder },
  });
  assertEquals(list.status, 0);
});

Deno.test("migrate: a watcher's lock names the process that the caller started", async () => {
  await using home = makeHome();
  addScript(home, "fm-watch.sh");
  assertEquals((await migrate(home)).status, 0);
  home.task("crawl");
  const watcher = new Deno.Command(home.path("bin/fm-watch.sh"), {
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  try {
    await until(() => textOf(home.path("state/.watch.lock/pid")).trim() === String(watcher.pid));
  } finally {
    watcher.kill();
    await watcher.status;
  }
});

Deno.test("migrate --undo: a forwarder whose script is gone stays and is told", async () => {
  await using home = makeHome();
  addScript(home, "fm-watch.sh");
  await migrate(home);
  Deno.removeSync(home.path("state/.turnguard-originals"), { recursive: true });
  const { status, stdout } = await migrate(home, "--undo");
  assertEquals(status, 0);
  assertStringIncludes(stdout, "forwards; its script was not kept");
  assertStringIncludes(
    Deno.readTextFileSync(home.path("bin/fm-watch.sh")),
    "Forwards to turnguard",
  );
});

Deno.test("migrate: another path of the executable updates the forwarders alone", async () => {
  await using home = makeHome();
  addScript(home, "fm-watch.sh");
  await migrate(home);
  const other = home.path("turnguard-link");
  Deno.symlinkSync("/bin/true", other);
  assertEquals((await migrate(home, "--executable", other)).status, 0);
  assertStringIncludes(
    Deno.readTextFileSync(home.path("bin/fm-watch.sh")),
    `exec '${other}' watch`,
  );
  await migrate(home, "--undo");
  assertStringIncludes(Deno.readTextFileSync(home.path("bin/fm-watch.sh")), "original fm-watch.sh");
});

for (
  const [what, prepare, said] of [
    ["a script that is a link", (home: TestHome) => {
      Deno.symlinkSync("/bin/true", home.path("bin/fm-watch.sh"));
    }, "fm-watch.sh is a link"],
    ["a script that is a folder", (home: TestHome) => {
      Deno.mkdirSync(home.path("bin/fm-watch.sh"));
    }, "fm-watch.sh is no plain file"],
    ["a folder that is no home", (home: TestHome) => {
      Deno.removeSync(home.path("AGENTS.md"));
    }, "is not a home"],
  ] as const
) {
  Deno.test(`migrate: refuses ${what} and writes nothing`, async () => {
    await using home = makeHome();
    addScript(home, "fm-guard.sh");
    prepare(home);
    const before = snapshot(home.root);
    const { status, stderr } = await migrate(home);
    assertEquals(status, 1);
    assertStringIncludes(stderr, said);
    assertStringIncludes(stderr, "nothing was written");
    assertEquals(snapshot(home.root), before);
  });
}
