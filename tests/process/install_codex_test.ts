/** `install codex`, with the built executable: what it writes, what it refuses, what it guards. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { applyPatch } from "diff";
import { makeHome, type TestHome } from "../support/home.ts";
import { isFile } from "../support/processes.ts";
import { snapshot } from "../support/snapshot.ts";
import {
  runProgram,
  type RunResult,
  runTurnguard,
  tabulate,
  TURNGUARD,
} from "../support/turnguard.ts";

const FILE = ".codex/hooks.json";

/** Roots whose names some shell would take apart. */
const NAMES = ["home", `it's a "home"`, "$HOME `id` !x", "back\\slash\\\\n\\", "漢字 é", "-x;*"];

const SHELLS = ["sh", "dash", "bash", "zsh", "fish"] as const;

const PAYLOAD = JSON.stringify({ hook_event_name: "Stop", cwd: "/", stop_hook_active: false });

function install(home: TestHome, ...args: readonly string[]): Promise<RunResult> {
  return runTurnguard(["install", "codex", "--root", home.root, ...args]);
}

function read(home: TestHome): string {
  return Deno.readTextFileSync(home.path(FILE));
}

/** The command that Codex would run. */
function commandIn(home: TestHome): string {
  const command = /"command": ("(?:[^"\\]|\\.)*")/.exec(read(home))?.[1];
  assert(command !== undefined, "no command in the hook file");
  const value: unknown = JSON.parse(command);
  assert(typeof value === "string");
  return value;
}

Deno.test("install codex: writes the hook file and says that Codex has to be asked", async () => {
  await using home = makeHome();
  const result = await install(home);
  assertEquals({ status: result.status, stderr: result.stderr }, { status: 0, stderr: "" });
  assertStringIncludes(result.stdout, home.path(FILE));
  assertStringIncludes(result.stdout, "/hooks");
  assertStringIncludes(result.stdout, "--dangerously-bypass-hook-trust");
  assertEquals(
    commandIn(home),
    `: turnguard:codex-stop; export OLDPWD="$PWD"; cd / && exec '${TURNGUARD}' stop ` +
      `--root '${home.root}' --anchor-cwd codex --session-dir "$OLDPWD"`,
  );
  assertEquals([...Deno.readDirSync(home.path(".codex"))].map(({ name }) => name), ["hooks.json"]);
});

Deno.test("install codex: the second time nothing is touched", async () => {
  await using home = makeHome();
  await install(home);
  const before = snapshot(home.folder);
  const result = await install(home, "--root", `${home.root}/`);
  assertEquals(result.status, 0);
  assertStringIncludes(result.stdout, "Already registered");
  assertEquals(snapshot(home.folder), before);
});

Deno.test("install codex: keeps what others wrote, and the mode under any umask", async () => {
  await using home = makeHome();
  const foreign =
    '{\r\n\t"x": "é\\u0041",\r\n\t"hooks": {\r\n\t\t"Stop": [\r\n\t\t\t{}\r\n\t\t]\r\n\t}\r\n}';
  home.write(FILE, foreign);
  Deno.chmodSync(home.path(FILE), 0o664);
  const result = await runProgram([
    "/bin/sh",
    "-c",
    'umask 077; exec "$@"',
    "sh",
    ...[TURNGUARD, "install", "codex", "--root", home.root],
  ]);
  assertEquals(result.status, 0);
  const [head = "", tail] = read(home).split(
    /,\r\n\t{3}\{\r\n\t{4}"hooks".*?\r\n\t{3}\}(?=\r\n\t{2}\])/s,
  );
  assertEquals(`${head}${tail}`, foreign);
  assertEquals((Deno.statSync(home.path(FILE)).mode ?? 0) & 0o777, 0o664);
});

Deno.test("install codex: another executable replaces the entry and its trust is lost", async () => {
  await using home = makeHome();
  await install(home);
  const link = join(home.folder, "turnguard");
  Deno.symlinkSync(TURNGUARD, link);
  const result = await install(home, "--executable", link);
  assertEquals(result.status, 0);
  assertStringIncludes(result.stdout, "reviewed again");
  assertStringIncludes(commandIn(home), `exec '${link}' stop`);
  assertEquals(read(home).split("turnguard:codex-stop").length, 2);
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
    home.remove(FILE);
  }
});

Deno.test("install codex: finds the root from a folder inside it", async () => {
  await using home = makeHome();
  const result = await runTurnguard(["install", "codex"], { cwd: home.path("state") });
  assertEquals(result.status, 0);
  assertStringIncludes(commandIn(home), `--root '${home.root}' `);
});

Deno.test("install codex: --dry-run prints a patch that does it, and writes nothing", async () => {
  for (const before of [undefined, '{\n  "hooks": {\n    "Stop": []\n  }\n}', '{"a": 1}\n']) {
    await using home = makeHome();
    if (before !== undefined) home.write(FILE, before);
    const untouched = snapshot(home.folder);
    const { status, stdout } = await install(home, "--dry-run");
    assertEquals(status, 0);
    assertEquals(snapshot(home.folder), untouched);
    assertMatch(
      stdout,
      before === undefined ? /^--- \/dev\/null\n/ : /^--- a\/\.codex\/hooks\.json\n/,
    );
    await install(home);
    assertEquals(applyPatch(before ?? "", stdout), read(home));
  }
});

Deno.test("install codex: a guard of the shell scripts stays as it is", async () => {
  await using home = makeHome();
  home.write(FILE, '{"hooks":{"Stop":[{"hooks":[{"command":"bin/fm-turnend-guard.sh"}]}]}}');
  const before = snapshot(home.folder);
  const result = await install(home);
  assertEquals(result.status, 0);
  assertStringIncludes(result.stdout, "already registered");
  assertStringIncludes(result.stdout, `${home.path(FILE)}:1`);
  assertEquals(snapshot(home.folder), before);
});

const REFUSED: ReadonlyArray<
  readonly [name: string, content: string | Uint8Array, where: string, why: string]
> = [
  ["a comment", "{\n  // x\n}", ":2:3", "comment"],
  ["a byte order mark", "\ufeff{}", ":1:1", "byte order mark"],
  ["bytes that are not UTF-8", new Uint8Array([0x7b, 0xff, 0x7d]), ":1:2", "UTF-8"],
  ["a merge conflict", '{\n<<<<<<< HEAD\n"a":1\n}', ":2:1", "merge conflict"],
  ["hooks that are no object", '{"hooks": []}', ":1:11", "not an object"],
  ["a Stop that is no array", '{"hooks": {"Stop": {}}}', ":1:20", "not an array"],
  ["an empty file", "", ":1:1", "empty"],
];

for (const [name, content, where, why] of REFUSED) {
  Deno.test(`install codex: ${name} is refused with its place, the file untouched`, async () => {
    await using home = makeHome();
    home.write(FILE, content);
    const before = snapshot(home.folder);
    const { status, stdout, stderr } = await install(home);
    assertEquals({ status, stdout }, { status: 1, stdout: "" });
    assertStringIncludes(stderr, `${home.path(FILE)}${where}: `);
    assertStringIncludes(stderr, why);
    assertStringIncludes(stderr, "left as it is");
    assertEquals(snapshot(home.folder), before);
  });
}

Deno.test("install codex: a folder in place of the file is refused", async () => {
  await using home = makeHome();
  home.write(`${FILE}/keep`);
  const before = snapshot(home.folder);
  const { status, stderr } = await install(home);
  assertEquals(status, 1);
  assertStringIncludes(stderr, "is a folder");
  assertEquals(snapshot(home.folder), before);
});

Deno.test("install codex: a link is followed inside the root only", async () => {
  await using home = makeHome();
  home.write("shared.json", "{}\n");
  Deno.mkdirSync(home.path(".codex"));
  Deno.symlinkSync("../shared.json", home.path(FILE));
  assertEquals((await install(home)).status, 0);
  assert(Deno.lstatSync(home.path(FILE)).isSymlink);
  assertStringIncludes(Deno.readTextFileSync(home.path("shared.json")), "turnguard:codex-stop");

  const outside = join(home.folder, "outside.json");
  Deno.writeTextFileSync(outside, "{}\n");
  home.remove(FILE);
  Deno.symlinkSync(outside, home.path(FILE));
  const { status, stderr } = await install(home);
  assertEquals(status, 1);
  assertStringIncludes(stderr, "leads out of the root");
  assertEquals(Deno.readTextFileSync(outside), "{}\n");
});

Deno.test("install codex: a root that is no home is refused, with advice", async () => {
  await using home = makeHome();
  home.remove("AGENTS.md");
  const before = snapshot(home.folder);
  const { status, stderr } = await install(home);
  assertEquals(status, 1);
  assertStringIncludes(stderr, "turnguard init");
  assertEquals(snapshot(home.folder), before);
});

Deno.test("install codex: an executable that looks like a harness is refused", async () => {
  await using home = makeHome();
  const before = snapshot(home.root);
  for (const name of ["turnguard-codex", "pi/turnguard"]) {
    const link = join(home.folder, name);
    Deno.mkdirSync(join(link, ".."), { recursive: true });
    Deno.symlinkSync(TURNGUARD, link);
    const { status, stderr } = await install(home, "--executable", link);
    assertEquals(status, 1);
    assertStringIncludes(stderr, "looks like a harness");
  }
  assertEquals(snapshot(home.root), before);
});

Deno.test("install: another word is a usage error", async () => {
  for (const words of [[], ["nothing"], ["codex", "codex"]]) {
    const { status, stderr } = await runTurnguard(["install", ...words]);
    assertEquals(status, 2);
    assertStringIncludes(stderr, "nothing was done");
  }
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

for (const shell of SHELLS) {
  const path = [`/bin/${shell}`, `/usr/bin/${shell}`].find(isFile);
  if (path === undefined) console.log(`install codex: ${shell} is skipped, it is not installed`);
  Deno.test({
    name: `install codex: under ${shell} the hook blocks a session in the root, and only that`,
    ignore: path === undefined,
    fn: async () => {
      const rows = NAMES.flatMap((name) =>
        Object.entries(STANDPOINTS).map(([standpoint, expected]) => ({
          name: `${name}: ${standpoint}`,
          root: name,
          ...expected,
        }))
      );
      const outcomes = await tabulate(rows, (row) => row.name, async (row) => {
        await using home = makeHome({ name: row.root });
        const executable = join(home.folder, `tg ${row.root}`);
        Deno.symlinkSync(TURNGUARD, executable);
        assertEquals((await install(home, "--executable", executable)).status, 0);
        home.task();
        const command = commandIn(home);
        const { status, stderr } = await runProgram(
          [
            "/bin/sh",
            "-c",
            `${row.script}; exec "$2" -lc "$3"`,
            "sh",
            home.root,
            path ?? "",
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
  });
}
