/** Kimi's workers: the hook at the end of their turns, and its installation for a user. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { dirname, fromFileUrl, join } from "@std/path";
import { snapshot } from "../support/snapshot.ts";
import { runProgram, type RunResult, runTurnguard, TURNGUARD } from "../support/turnguard.ts";

const PAYLOADS = join(dirname(dirname(fromFileUrl(import.meta.url))), "fixtures", "payloads");
const TOKEN = "fm.aB3dE5gH7jK9";
const STRAY = "fm-turn-end.sh";

/** A user with Kimi's configuration, and a worktree of a worker. */
class User implements Disposable {
  readonly folder = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "turnguard-test-" }));
  readonly kimi = join(this.folder, ".kimi-code");
  readonly config = join(this.kimi, "config.toml");
  readonly script = join(this.kimi, "fm-turn-end.sh");
  readonly registry = join(this.kimi, "fm-turn-end.d");
  readonly worktree = join(this.folder, "work é");
  readonly marker = join(this.folder, "task.turn-ended");

  constructor(config: string | undefined = 'model = "x"\n') {
    for (const path of [this.kimi, this.worktree]) Deno.mkdirSync(path);
    if (config !== undefined) Deno.writeTextFileSync(this.config, config);
  }

  run(...words: readonly string[]): Promise<RunResult> {
    return runTurnguard(words, { env: { HOME: this.folder } });
  }

  /** Gives a worker's token to the worktree. */
  token(pointer = `token=${TOKEN}\n`, entry = `${this.marker}\n`): void {
    Deno.mkdirSync(this.registry, { recursive: true, mode: 0o700 });
    Deno.writeTextFileSync(join(this.registry, TOKEN), entry);
    Deno.writeTextFileSync(join(this.worktree, ".fm-kimi-turnend"), pointer);
  }

  get isTold(): boolean {
    try {
      return Deno.statSync(this.marker).isFile;
    } catch {
      return false;
    }
  }

  /** Everything but the times of change. */
  get contents(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      Object.entries(snapshot(this.folder))
        .map(([name, what]) => [name, what.replace(/ \d{13}(?= |$)/, "")]),
    );
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.folder, { recursive: true });
  }
}

const FILES: ReadonlyArray<readonly [name: string, text: string]> = [
  ["a final newline", 'model = "x" # mine\n\n[[hooks]]\nevent = "Stop"\ncommand = "true"\n'],
  ["none", "a = 1\r\n[b]\r\nc = '''\n'''"],
  ["nothing", ""],
];

for (const [name, text] of FILES) {
  Deno.test(`install kimi: a configuration that ends with ${name} comes back to the byte`, async () => {
    using user = new User(text);
    Deno.chmodSync(user.config, 0o640);
    const before = user.contents;
    const { status, stderr } = await user.run("install", "kimi");
    assertEquals({ status, stderr }, { status: 0, stderr: "" });
    assert(Deno.readTextFileSync(user.config).startsWith(text));
    assertEquals((Deno.statSync(user.config).mode ?? 0) & 0o777, 0o640);
    assertEquals((Deno.statSync(user.script).mode ?? 0) & 0o777, 0o700);
    assertEquals((Deno.statSync(user.registry).mode ?? 0) & 0o777, 0o700);
    const installed = snapshot(user.folder);
    for (const words of [["install", "kimi"], ["kimi", "install"]]) {
      assertStringIncludes((await user.run(...words)).stdout, "Already registered");
      assertEquals(snapshot(user.folder), installed);
    }
    assertEquals((await user.run("uninstall", "kimi")).status, 0);
    assertEquals(user.contents, before);
    assertStringIncludes((await user.run("uninstall", "kimi")).stdout, "nothing was written");
  });
}

Deno.test("kimi remove: takes tokens along, and what was written behind the region stays", async () => {
  using user = new User("a = 1");
  await user.run("kimi", "install");
  user.token();
  Deno.writeTextFileSync(user.config, `${Deno.readTextFileSync(user.config)}[late]\n`);
  const { status, stderr } = await user.run("kimi", "remove");
  assertEquals({ status, stderr }, { status: 0, stderr: "" });
  assertEquals(Deno.readTextFileSync(user.config), "a = 1\n[late]\n");
  assertEquals(Array.from(Deno.readDirSync(user.kimi), ({ name }) => name), ["config.toml"]);
});

Deno.test("install kimi: the suite's script gives way to ours, another one does not", async () => {
  using user = new User();
  Deno.writeTextFileSync(
    user.script,
    "#!/usr/bin/env bash\n# Firstmate Kimi turn-end hook. x\n:\n",
  );
  assertEquals((await user.run("install", "kimi")).status, 0);
  assertStringIncludes(Deno.readTextFileSync(user.script), `'${TURNGUARD}' kimi hook`);
});

/** What is in the way, and what the refusal says. */
const REFUSED: ReadonlyArray<
  readonly [name: string, prepare: (user: User) => void, said: string]
> = [
  ["no configuration", (user) => Deno.removeSync(user.config), "Kimi config is missing"],
  ["no folder", (user) => Deno.removeSync(user.kimi, { recursive: true }), "does not exist"],
  [
    "a link as configuration",
    (user) => {
      Deno.renameSync(user.config, `${user.config}.real`);
      Deno.symlinkSync(`${user.config}.real`, user.config);
    },
    "not a regular file",
  ],
  [
    "malformed TOML",
    (user) => Deno.writeTextFileSync(user.config, "a = 1\nb\n"),
    "config.toml:2:2: the file is malformed TOML",
  ],
  [
    "bytes that are no text",
    (user) => Deno.writeFileSync(user.config, new Uint8Array([0x23, 0xff])),
    "config.toml:1:2: the file is not UTF-8",
  ],
  [
    "hooks that are no list",
    (user) => Deno.writeTextFileSync(user.config, "hooks = 1\n"),
    "not an array",
  ],
  [
    "half a region",
    (user) => Deno.writeTextFileSync(user.config, "# BEGIN FIRSTMATE KIMI TURN-END HOOK\n"),
    "partial, duplicated, or altered",
  ],
  [
    "a hook without its comments",
    (user) => Deno.writeTextFileSync(user.config, `a = "${STRAY}"\n`),
    "outside of our region",
  ],
  [
    "a foreign script",
    (user) => Deno.writeTextFileSync(user.script, "#!/bin/sh\n"),
    "somebody else's",
  ],
  ["a folder as script", (user) => Deno.mkdirSync(user.script), "not a regular file"],
  [
    "a file as registry",
    (user) => Deno.writeTextFileSync(user.registry, ""),
    "is not a real folder",
  ],
];

Deno.test("kimi install: every refusal comes before any write, and says why", async () => {
  for (const [name, prepare, said] of REFUSED) {
    using user = new User();
    prepare(user);
    const before = snapshot(user.folder);
    const { status, stdout, stderr } = await user.run("kimi", "install");
    assertEquals({ status, stdout }, { status: 1, stdout: "" }, name);
    assertMatch(stderr, /^fm-kimi-turnend-hook: refused: /, name);
    assertStringIncludes(stderr, said, name);
    assertEquals(snapshot(user.folder), before, name);
  }
  const unset = await runTurnguard(["kimi", "install"]);
  assertStringIncludes(unset.stderr, "refused: HOME does not name a folder");
});

Deno.test("kimi remove: a script that was changed, or a token that is none, is refused", async () => {
  const changes: readonly ((user: User) => void)[] = [
    (user) => Deno.writeTextFileSync(user.script, "\n", { append: true }),
    (user) => Deno.chmodSync(user.script, 0o755),
    (user) => Deno.writeTextFileSync(join(user.registry, "mine"), ""),
  ];
  for (const change of changes) {
    using user = new User();
    await user.run("kimi", "install");
    change(user);
    const before = snapshot(user.folder);
    const { status, stderr } = await user.run("kimi", "remove");
    assertEquals(status, 1);
    assertMatch(stderr, /^fm-kimi-turnend-hook: refused: /);
    assertEquals(snapshot(user.folder), before);
  }
});

Deno.test("kimi: another word is a usage error", async () => {
  for (const words of [[], ["x"]]) {
    const { status, stderr } = await runTurnguard(["kimi", ...words]);
    assertEquals(status, 2);
    assertMatch(stderr, /usage: \S+ kimi install\|remove/);
  }
});

/** What the hook makes of each payload that is kept. */
const KEPT: ReadonlyArray<readonly [file: string, isTold: boolean]> = [
  ["kimi-stop-ordinary.json", true],
  ["kimi-stop-minimal.json", true],
  ["kimi-stop-continuation.json", true],
  ["kimi-stop-pretty-printed.json", false],
  ["kimi-stop-truncated.json", false],
  ["kimi-stop-no-cwd.json", false],
  ["kimi-stop-malformed-cwd.json", false],
  ["kimi-stop-empty-cwd.json", false],
  ["kimi-userpromptsubmit-ordinary.json", false],
];

Deno.test("kimi hook: tells of a worker's turn end, by what Kimi sends", async () => {
  using user = new User();
  await user.run("install", "kimi");
  for (const [file, isTold] of KEPT) {
    user.token();
    const payload = Deno.readTextFileSync(join(PAYLOADS, file))
      .replace("/home/dev/project", user.worktree);
    const result = await runProgram(["/bin/bash", user.script], {
      env: { HOME: user.folder },
      stdin: payload,
    });
    assertEquals(result, { status: 0, stdout: "", stderr: "" }, file);
    assertEquals(user.isTold, isTold, file);
    if (isTold) Deno.removeSync(user.marker);
  }
});

Deno.test("kimi hook: a pointer or an entry that is not as it should be tells nothing", async () => {
  const cases: ReadonlyArray<
    readonly [pointer?: string | undefined, entry?: string | undefined, isTold?: boolean]
  > = [
    [`token=${TOKEN} \n`],
    [`token=${TOKEN}`, undefined, true],
    [`token=${TOKEN}\nmore`, undefined, true],
    [`token=../${TOKEN}\n`],
    [`tokens=${TOKEN}\n`],
    [`${" ".repeat(300)}token=${TOKEN}\n`],
    [undefined, "relative.turn-ended\n"],
    [undefined, "/tmp/other\n"],
    [undefined, ""],
  ];
  for (const [pointer, entry, isTold = false] of cases) {
    using user = new User();
    user.token(pointer, entry);
    const stdin = JSON.stringify({ hook_event_name: "Stop", cwd: user.worktree });
    const env = { HOME: user.folder };
    for (const words of [["kimi", "hook"], ["kimi-wake"]]) {
      const result = await runTurnguard(words, { env, stdin });
      assertEquals(result, { status: 0, stdout: "", stderr: "" });
      assertEquals(user.isTold, isTold, JSON.stringify([pointer, entry]));
    }
  }
});

Deno.test("kimi hook: is silent about whatever is wrong", async () => {
  for (const stdin of ["", "[]", "\0", '{"hook_event_name":"Stop","cwd":7}', null]) {
    for (const words of [["kimi", "hook"], ["kimi", "hook", "--x"], ["kimi-wake", "x"]]) {
      const result = await runTurnguard(words, { stdin });
      assertEquals(result, { status: 0, stdout: "", stderr: "" });
    }
  }
});
