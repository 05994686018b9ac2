/** `install` and the files of other people: what it keeps, what it leaves alone, what it refuses. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { dirname, join } from "@std/path";
import { applyPatch } from "diff";
import { makeHome } from "../support/home.ts";
import { type Harness, HOOK_FILES, hookFile, install } from "../support/install.ts";
import { snapshot } from "../support/snapshot.ts";
import { runProgram, runTurnguard, TURNGUARD } from "../support/turnguard.ts";

const HARNESSES: readonly Harness[] = ["claude", "codex"];

const REFUSED: ReadonlyArray<
  readonly [name: string, content: string | Uint8Array, where: string, why: string]
> = [
  ["a comment without an end", "{\n  /* x\n}", ":2:3", "comment"],
  ["bytes that are not UTF-8", new Uint8Array([0x7b, 0xff, 0x7d]), ":1:2", "UTF-8"],
  ["a merge conflict", '{\n<<<<<<< HEAD\n"a":1\n}', ":2:1", "merge conflict"],
  ["hooks that are no object", '{"hooks": []}', ":1:11", "not an object"],
  ["a Stop that is no array", '{"hooks": {"Stop": {}}}', ":1:20", "not an array"],
  ["an empty file", "", ":1:1", "empty"],
];

for (const harness of HARNESSES) {
  const file = HOOK_FILES[harness];

  Deno.test(`install ${harness}: the second time nothing is touched`, async () => {
    await using home = makeHome();
    await install(harness, home);
    const before = snapshot(home.folder);
    const result = await install(harness, home, "--root", `${home.root}/`);
    assertEquals(result.status, 0);
    assertStringIncludes(result.stdout, "Already registered");
    assertEquals(snapshot(home.folder), before);
  });

  Deno.test(`install ${harness}: keeps what others wrote, and the mode under any umask`, async () => {
    await using home = makeHome();
    const foreign =
      '{\r\n\t"x": "é\\u0041",\r\n\t"hooks": {\r\n\t\t"Stop": [\r\n\t\t\t{}\r\n\t\t]\r\n\t}\r\n}';
    home.write(file, foreign);
    Deno.chmodSync(home.path(file), 0o664);
    const result = await runProgram([
      "/bin/sh",
      "-c",
      'umask 077; exec "$@"',
      "sh",
      ...[TURNGUARD, "install", harness, "--root", home.root],
    ]);
    assertEquals(result.status, 0);
    const events = /,\r\n\t\t"(?:StopFailure|Notification)": \[.*?\r\n\t\t\]/gs;
    const [head = "", tail] = hookFile(harness, home).replaceAll(events, "").split(
      /,\r\n\t{3}\{\r\n\t{4}"hooks".*?\r\n\t{3}\}(?=\r\n\t{2}\])/s,
    );
    assertEquals(`${head}${tail}`, foreign);
    assertEquals((Deno.statSync(home.path(file)).mode ?? 0) & 0o777, 0o664);
  });

  Deno.test(`install ${harness}: --dry-run prints a patch that does it, and writes nothing`, async () => {
    for (const before of [undefined, '{\n  "hooks": {\n    "Stop": []\n  }\n}', '{"a": 1}\n']) {
      await using home = makeHome();
      if (before !== undefined) home.write(file, before);
      const untouched = snapshot(home.folder);
      const { status, stdout } = await install(harness, home, "--dry-run");
      assertEquals(status, 0);
      assertEquals(snapshot(home.folder), untouched);
      assertMatch(
        stdout,
        before === undefined
          ? /^--- \/dev\/null\n/
          : /^--- a\/\.(codex\/hooks|claude\/settings)\.json\n/,
      );
      await install(harness, home);
      assertEquals(applyPatch(before ?? "", stdout), hookFile(harness, home));
    }
  });

  Deno.test(`install ${harness}: a guard of the shell scripts stays as it is`, async () => {
    await using home = makeHome();
    home.write(file, '{"hooks":{"Stop":[{"hooks":[{"command":"bin/fm-turnend-guard.sh"}]}]}}');
    const before = snapshot(home.folder);
    const result = await install(harness, home);
    assertEquals(result.status, 0);
    assertStringIncludes(result.stdout, "already registered");
    assertStringIncludes(result.stdout, `${home.path(file)}:1`);
    assertEquals(snapshot(home.folder), before);
  });

  for (const [name, content, where, why] of REFUSED) {
    Deno.test(`install ${harness}: ${name} is refused with its place, the file untouched`, async () => {
      await using home = makeHome();
      home.write(file, content);
      const before = snapshot(home.folder);
      const { status, stdout, stderr } = await install(harness, home);
      assertEquals({ status, stdout }, { status: 1, stdout: "" });
      assertStringIncludes(stderr, `${home.path(file)}${where}: `);
      assertStringIncludes(stderr, why);
      assertStringIncludes(stderr, "nothing was written");
      assertEquals(snapshot(home.folder), before);
    });
  }

  Deno.test(`install ${harness}: a folder in place of the file is refused`, async () => {
    await using home = makeHome();
    home.write(`${file}/keep`);
    const before = snapshot(home.folder);
    const { status, stderr } = await install(harness, home);
    assertEquals(status, 1);
    assertStringIncludes(stderr, "is a folder");
    assertEquals(snapshot(home.folder), before);
  });

  Deno.test(`install ${harness}: a link is followed inside the root only`, async () => {
    await using home = makeHome();
    home.write("shared.json", "{}\n");
    Deno.mkdirSync(home.path(dirname(file)));
    Deno.symlinkSync("../shared.json", home.path(file));
    assertEquals((await install(harness, home)).status, 0);
    assert(Deno.lstatSync(home.path(file)).isSymlink);
    assertStringIncludes(
      Deno.readTextFileSync(home.path("shared.json")),
      `turnguard:${harness}-stop`,
    );

    const outside = join(home.folder, "outside.json");
    Deno.writeTextFileSync(outside, "{}\n");
    home.remove(file);
    Deno.symlinkSync(outside, home.path(file));
    const { status, stderr } = await install(harness, home);
    assertEquals(status, 1);
    assertStringIncludes(stderr, "leads out of the root");
    assertEquals(Deno.readTextFileSync(outside), "{}\n");
  });

  Deno.test(`install ${harness}: a root that is no home is refused, with advice`, async () => {
    await using home = makeHome();
    home.remove("AGENTS.md");
    const before = snapshot(home.folder);
    const { status, stderr } = await install(harness, home);
    assertEquals(status, 1);
    assertStringIncludes(stderr, "turnguard init");
    assertEquals(snapshot(home.folder), before);
  });

  Deno.test(`install ${harness}: an executable that looks like a harness is refused`, async () => {
    await using home = makeHome();
    const before = snapshot(home.root);
    for (const name of ["turnguard-codex", "pi/turnguard"]) {
      const link = join(home.folder, name);
      Deno.mkdirSync(join(link, ".."), { recursive: true });
      Deno.symlinkSync(TURNGUARD, link);
      const { status, stderr } = await install(harness, home, "--executable", link);
      assertEquals(status, 1);
      assertStringIncludes(stderr, "looks like a harness");
    }
    assertEquals(snapshot(home.root), before);
  });
}

Deno.test("install: another word is a usage error", async () => {
  for (const words of [[], ["nothing"], ["codex", "codex"], ["codex", "x"]]) {
    const { status, stderr } = await runTurnguard(["install", ...words]);
    assertEquals(status, 2);
    assertStringIncludes(stderr, "nothing was done");
  }
});

Deno.test("install: several harnesses in one call are all registered", async () => {
  await using home = makeHome();
  const result = await runTurnguard(["install", "codex", "claude", "--root", home.root]);
  assertEquals({ status: result.status, stderr: result.stderr }, { status: 0, stderr: "" });
  for (const harness of HARNESSES) {
    assertStringIncludes(hookFile(harness, home), `turnguard:${harness}-stop`);
    assertStringIncludes(result.stdout, home.path(HOOK_FILES[harness]));
  }
});

Deno.test("install: of several harnesses none is registered when one is refused", async () => {
  await using home = makeHome();
  home.write(HOOK_FILES.codex, "{");
  const before = snapshot(home.folder);
  const { status, stdout, stderr } = await runTurnguard(
    ["install", "claude", "codex", "--root", home.root],
  );
  assertEquals({ status, stdout }, { status: 1, stdout: "" });
  assertStringIncludes(stderr, `${home.path(HOOK_FILES.codex)}:1:2: `);
  assertEquals(snapshot(home.folder), before);
});
