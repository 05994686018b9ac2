/**
 * The process that a host starts: its streams, folder, environment and neighbours.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { closeSync, constants, openSync, writeSync } from "node:fs";
import { isFile } from "../support/files.ts";
import { makeHome, type TestHome } from "../support/home.ts";
import {
  AS_OTHER_USER,
  asOtherUser,
  below,
  identityOf,
  namedShell,
  ON_LINUX,
  startZombie,
} from "../support/processes.ts";
import {
  FIRST_STOP,
  repairLineOf,
  RULE_LINE,
  runProgram,
  type RunResult,
  runTurnguard,
  startTurnguard,
  tabulate,
  TURNGUARD,
  verdictOf,
} from "../support/turnguard.ts";

const CLAUDE = { CLAUDECODE: "1" };

/** Runs `stop` through a line of shell, in which `$@` is the whole call. */
function stopThrough(
  home: TestHome,
  script: string,
  env: Readonly<Record<string, string | undefined>> = CLAUDE,
): Promise<RunResult> {
  const call = [TURNGUARD, "stop", ...home.args];
  return runProgram(["/bin/sh", "-c", script, "-", ...call], {
    stdin: FIRST_STOP,
    env: { ...home.env, ...env },
  });
}

function stop(
  home: TestHome,
  env: Readonly<Record<string, string | undefined>> = CLAUDE,
): Promise<RunResult> {
  return runTurnguard(["stop", ...home.args], { stdin: FIRST_STOP, env: { ...home.env, ...env } });
}

for (const redirection of ["2>&-", ">&-", ">&- 2>&-", "2>/dev/full", ">/dev/full 2>/dev/full"]) {
  Deno.test(`stop: with ${redirection} the exit status still carries the verdict (68)`, async () => {
    await using home = makeHome().task();
    assertEquals((await stopThrough(home, `exec "$@" ${redirection}`)).status, 2);
    await home.watcher(5);
    assertEquals((await stopThrough(home, `exec "$@" ${redirection}`)).status, 0);
  });
}

Deno.test("stop: readers that are gone change no verdict (68)", async () => {
  await using home = makeHome().task();
  const child = startTurnguard(["stop", ...home.args], {
    env: { ...home.env, ...CLAUDE },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  });
  // It waits for its payload, so the readers are certainly gone before it writes.
  await Promise.all([child.stdout.cancel(), child.stderr.cancel()]);
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(FIRST_STOP));
  await writer.close();
  assertEquals((await child.status).code, 2);
});

Deno.test(
  "stop: a reader that never empties a full pipe changes no verdict",
  ON_LINUX,
  async () => {
    await using home = makeHome().task();
    const pipe = join(home.folder, "full");
    assertEquals((await runProgram(["/usr/bin/mkfifo", pipe])).status, 0);
    const descriptor = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
    try {
      fill(descriptor);
      assertEquals((await stopThrough(home, `exec "$@" 2>'${pipe}'`)).status, 2);
    } finally {
      closeSync(descriptor);
    }
  },
);

function fill(descriptor: number): void {
  const part = new Uint8Array(4096);
  for (let count = 0; count < 10_000; count++) {
    try {
      writeSync(descriptor, part);
    } catch {
      return;
    }
  }
  throw new Error("the pipe takes everything");
}

Deno.test("stop: the registered command blocks even where its working directory was removed", async () => {
  await using home = makeHome({ name: "it's home" }).task();
  const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
  const command = `cd / && exec ${quote(TURNGUARD)} stop --root ${quote(home.root)}`;
  const gone = join(home.folder, "gone");
  Deno.mkdirSync(gone);
  const result = await runProgram(
    ["/bin/sh", "-c", 'rmdir "$1" && exec sh -c "$2"', "-", gone, command],
    { cwd: gone, stdin: FIRST_STOP, env: { ...home.env, ...CLAUDE } },
  );
  assertEquals(result.status, 2);
  // The shell may add a line about the folder it stands in.
  assertStringIncludes(result.stderr, `${RULE_LINE}\n●  TURN WOULD END BLIND`);
});

Deno.test("stop: started in a removed directory it never blocks by accident and never hangs", async () => {
  await using home = makeHome();
  const gone = join(home.folder, "gone");
  Deno.mkdirSync(gone);
  const result = await runProgram(
    ["/bin/sh", "-c", 'rmdir "$PWD" && exec "$@"', "-", TURNGUARD, "stop", ...home.args],
    { cwd: gone, stdin: FIRST_STOP, env: home.env },
  );
  assert(result.status !== 2, result.stderr);
});

/** Environments that say nothing about the home, so no verdict may depend on them. */
const ENVIRONMENTS: ReadonlyArray<
  readonly [what: string, env: Readonly<Record<string, string | undefined>>]
> = [
  ["no variable at all", { PATH: undefined }],
  ["an empty PATH", { PATH: "" }],
  ["a PATH of nothing", { PATH: "/nowhere" }],
  ["a PATH of here", { PATH: "." }],
  ["no HOME", { HOME: undefined }],
  ["a HOME of nothing", { HOME: "/nowhere" }],
  ["a HOME that is a file", { HOME: "/etc/passwd" }],
  ["a TMPDIR of nothing", { TMPDIR: "/nowhere" }],
  ["a TMPDIR that is a file", { TMPDIR: "/etc/passwd" }],
  ["a foreign language", { LANG: "tr_TR.UTF-8", LC_ALL: "tr_TR.UTF-8" }],
  ["a foreign time zone", { TZ: "Pacific/Kiritimati" }],
  ["a broken time zone", { TZ: ":/nowhere" }],
  ["narrow columns", { COLUMNS: "1" }],
  ["Deno's own variables", {
    DENO_DIR: "/nowhere",
    DENO_V8_FLAGS: "--jitless",
    DENO_NO_PROMPT: "0",
    NODE_OPTIONS: "--require=/nowhere",
    DENO_PERMISSION_BROKER_PATH: "/nowhere",
  }],
  ["colour", { FORCE_COLOR: "1" }],
  ["Git's variables", { GIT_DIR: "/nowhere", GIT_WORK_TREE: "/nowhere" }],
];

Deno.test("stop: no environment changes a verdict or a stream", async () => {
  await using blind = makeHome().task();
  await using watched = makeHome().task();
  await watched.watcher(5);
  const actual = await tabulate(ENVIRONMENTS, ([what]) => what, async ([, env]) => {
    const [block, allow] = await Promise.all([stop(blind, env), stop(watched, env)]);
    return `${verdictOf(block)}, ${verdictOf(allow)}`;
  });
  assertEquals(
    actual,
    Object.fromEntries(ENVIRONMENTS.map(([what]) => [what, "block, allow"])),
  );
});

const PROGRAMS = ["cat", "ps", "git", "sh", "bash", "jq", "node", "deno", "uname", "stat", "date"];

Deno.test("stop: programs that a hostile PATH offers are never run", async () => {
  await using home = makeHome().task();
  await home.watcher(5);
  const canary = join(home.folder, "canary");
  const folder = join(home.folder, "hostile");
  Deno.mkdirSync(folder);
  for (const name of PROGRAMS) {
    Deno.writeTextFileSync(join(folder, name), `#!/bin/sh\n: > '${canary}'\necho 1\n`, {
      mode: 0o755,
    });
  }
  const run = async (path: string, proc?: string): Promise<string> =>
    verdictOf(
      await runTurnguard(["stop", ...home.args], {
        stdin: FIRST_STOP,
        cwd: folder,
        env: {
          ...home.env,
          PATH: path,
          ...(proc === undefined ? {} : { FM_PROC_ROOT_OVERRIDE: proc }),
        },
      }),
    );
  assertEquals(await run(folder), "allow");
  assertEquals(await run("."), "allow");
  // Without a /proc it is `ps` that is asked, whose identity is not the recorded one.
  assertEquals(await run(`${folder}:/usr/bin`, "/nowhere"), "block");
  assertEquals(isFile(canary), false);
});

Deno.test("stop: an inherited preload that exists changes nothing", ON_LINUX, async () => {
  await using home = makeHome().task();
  assertEquals(verdictOf(await stop(home, { LD_PRELOAD: "libm.so.6" })), "block");
  await home.watcher(5);
  assertEquals(verdictOf(await stop(home, { LD_PRELOAD: "libm.so.6" })), "allow");
});

Deno.test(
  "stop: an inherited preload that does not exist changes no status",
  ON_LINUX,
  async () => {
    await using home = makeHome().task();
    assertEquals((await stop(home, { LD_PRELOAD: "/nowhere/x.so" })).status, 2);
    await home.watcher(5);
    assertEquals((await stop(home, { LD_PRELOAD: "/nowhere/x.so" })).status, 0);
  },
);

Deno.test("stop: nothing appears in TMPDIR, HOME or a cache, and a planted cache is not opened", async () => {
  await using home = makeHome().task();
  await home.watcher(5);
  const places = ["tmp", "user", "cache", "deno"].map((name) => join(home.folder, name));
  const [tmp = "", own = "", cache = "", deno = ""] = places;
  for (const place of places) Deno.mkdirSync(place);
  const env = {
    ...CLAUDE,
    TMPDIR: tmp,
    HOME: own,
    XDG_CACHE_HOME: cache,
    XDG_STATE_HOME: cache,
    DENO_DIR: deno,
  };
  const before = listing(home.folder);
  assertEquals(verdictOf(await stop(home, env)), "allow");
  assertEquals(listing(home.folder), [...before, "home/state/.turnguard-journal.jsonl"].sort());

  const planted = join(tmp, "deno-compile-turnguard.cache");
  assertEquals((await runProgram(["/usr/bin/mkfifo", planted])).status, 0);
  assertEquals(verdictOf(await stop(home, env)), "allow");
});

function listing(folder: string, prefix = ""): readonly string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => [
    `${prefix}${name}`,
    ...(isDirectory ? listing(join(folder, name), `${prefix}${name}/`) : []),
  ]).sort();
}

Deno.test(
  "stop: a read-only TMPDIR changes no verdict (needs the superuser)",
  AS_OTHER_USER,
  async () => {
    await using home = makeHome().task();
    const tmp = join(home.folder, "tmp");
    Deno.mkdirSync(tmp, { mode: 0o555 });
    const result = await runProgram(
      asOtherUser([TURNGUARD, "stop", ...home.args]) ?? [],
      { stdin: FIRST_STOP, env: { ...home.env, ...CLAUDE, TMPDIR: tmp } },
    );
    assertEquals(verdictOf(result), "block");
    assertEquals([...Deno.readDirSync(tmp)].length, 0);
  },
);

Deno.test("stop: a pid that another process took over is no watcher (21)", async () => {
  await using home = makeHome().task();
  await home.watcher(5, { identity: `${await identityOf(Deno.pid)}\n` });
  assertEquals(verdictOf(await stop(home)), "block");
});

Deno.test("stop: a watcher that turned into another program is another process", async () => {
  await using home = makeHome().task();
  const sleeper = home.sleeper("/bin/sh", ["-c", "kill -STOP $$; exec cat"]);
  await home.recordWatcher(sleeper.pid);
  const recorded = await identityOf(sleeper.pid);
  home.beat(5);
  assertEquals(verdictOf(await stop(home)), "allow");
  Deno.kill(sleeper.pid, "SIGCONT");
  while (await identityOf(sleeper.pid) === recorded) Deno.kill(sleeper.pid, "SIGCONT");
  assertEquals(verdictOf(await stop(home)), "block");
});

Deno.test("stop: a zombie is no watcher", ON_LINUX, async () => {
  await using home = makeHome().task();
  await using zombie = await startZombie();
  const start = Deno.readTextFileSync(`/proc/${zombie.pid}/stat`).split(") ")[1]?.split(" ")[19];
  await home.recordWatcher(zombie.pid, { identity: `linux-starttime=${start} cmdline-hex=\n` });
  home.beat(5);
  assertEquals(verdictOf(await stop(home)), "block");
});

Deno.test("stop: the init process is no watcher of ours without its identity", async () => {
  await using home = makeHome().task();
  await home.recordWatcher(1, { identity: "linux-starttime=1 cmdline-hex=61\n" });
  home.beat(5);
  assertEquals(verdictOf(await stop(home)), "block");
});

Deno.test(
  "stop: another user's process is no watcher (needs the superuser)",
  AS_OTHER_USER,
  async () => {
    await using home = makeHome().task();
    await home.watcher(5);
    const call = { stdin: FIRST_STOP, env: { ...home.env, ...CLAUDE } };
    const other = asOtherUser([TURNGUARD, "stop", ...home.args]) ?? [];
    assertEquals(verdictOf(await runTurnguard(["stop", ...home.args], call)), "allow");
    assertEquals(verdictOf(await runProgram(other, call)), "block");
  },
);

/** Variables, shells around the call by name, and what the repair line must hold. */
const HARNESSES: ReadonlyArray<
  readonly [
    harness: string,
    env: Readonly<Record<string, string>>,
    shells: readonly string[],
    holds: readonly string[],
  ]
> = [
  ["claude", CLAUDE, [], ["watcher supervision needs Stop-owned automatic recovery; "]],
  ["claude by name", {}, ["claude"], ["Stop-owned automatic recovery"]],
  ["claude over pi's variable", { ...CLAUDE, PI_CODING_AGENT: "true" }, [], [
    "Stop-owned automatic",
  ]],
  ["pi below claude's variable", { ...CLAUDE, PI_CODING_AGENT: "true" }, ["pi"], [
    "fm_watch_arm_pi",
  ]],
  ["codex", {}, ["codex"], ["bin/fm-watch-checkpoint.sh --seconds 180"]],
  ["codex with its setting", { FM_CODEX_WATCH_CHECKPOINT: "60" }, ["codex"], ["--seconds 60"]],
  ["codex with a broken setting", { FM_CODEX_WATCH_CHECKPOINT: "x" }, ["codex"], ["--seconds 180"]],
  ["pi", { PI_CODING_AGENT: "true" }, [], [
    "fm_watch_arm_pi",
    ".pi/extensions/fm-primary-turnend-guard.ts",
    ".pi/extensions/fm-primary-pi-watch.ts",
  ]],
  ["pi-signed", { PI_CODING_AGENT: "true", FM_PI_HARNESS: "pi-signed" }, [], ["fm_watch_arm_pi"]],
  ["omp", { FM_OMP_HARNESS: "omp" }, ["omp"], ["fm_watch_arm_omp", ".omp/extensions/"]],
  ["omp's variable alone", { FM_OMP_HARNESS: "omp" }, [], ["for this harness"]],
  ["opencode", {}, ["opencode"], ["TUI plugin", "bin/fm-watch-arm.sh", "manual recovery probe"]],
  ["grok", { GROK_AGENT: "1" }, [], ["bin/fm-watch-arm.sh", "never shell &"]],
  ["cursor", { CURSOR_AGENT: "1" }, [], ["stop-hook park"]],
  ["cursor by its call", { CURSOR_INVOKED_AS: "cursor-agent" }, [], ["stop-hook park"]],
  ["cursor over claude", { ...CLAUDE, CURSOR_AGENT: "1" }, [], ["stop-hook park"]],
  ["kimi", {}, ["kimi"], ["according to the session-start block for this harness"]],
  ["gemini", { GEMINI_CLI: "1" }, [], ["according to the session-start block for this harness"]],
  ["rovo", { ROVODEV_CLI: "1" }, [], ["do not use shell &"]],
  ["none", {}, [], ["according to the session-start block for this harness", "do not use shell &"]],
  ["nearest first", {}, ["codex", "opencode"], ["TUI plugin"]],
  ["a variable that only looks like it", { CLAUDECODE: "yes" }, [], ["for this harness"]],
];

Deno.test("stop: the repair line is the one of the harness around it", async () => {
  await using home = makeHome().task();
  // Ancestors are looked at eight deep: as many shells hide whatever runs this test.
  const plain = Array.from({ length: 8 }, () => "/bin/sh");
  for (const name of ["claude", "codex", "opencode", "pi", "omp", "kimi"]) {
    namedShell(home.folder, name);
  }
  const actual = await tabulate(
    HARNESSES,
    ([harness]) => harness,
    async ([, env, shells, holds]) => {
      const line = [...plain, ...shells.map((name) => join(home.folder, name))];
      const result = await runProgram(below(line, [TURNGUARD, "stop", ...home.args]), {
        stdin: FIRST_STOP,
        env: { ...home.env, ...env },
      });
      const repair = repairLineOf(result);
      const missing = holds.filter((text) => !repair.includes(text));
      return missing.length === 0 ? verdictOf(result) : `${repair} lacks ${missing.join(", ")}`;
    },
  );
  assertEquals(actual, Object.fromEntries(HARNESSES.map(([harness]) => [harness, "block"])));
});

Deno.test("stop: Claude's repair line never speaks of failure or of arming by hand", async () => {
  await using home = makeHome().task();
  const repair = repairLineOf(await stop(home));
  assertStringIncludes(repair, "before ending the turn.");
  for (const word of ["is broken", "FAILED", "manual background", "bin/fm-watch-arm.sh"]) {
    assert(!repair.includes(word), repair);
  }
});
