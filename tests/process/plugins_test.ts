/**
 * The extensions of OpenCode, Pi and omp as they are installed, in hosts of this test's own making, under
 * every runtime that such hosts have.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fromFileUrl, join } from "@std/path";
import { exists, textOf } from "../support/files.ts";
import { makeHome, type TestHome } from "../support/home.ts";
import { until } from "../support/processes.ts";
import { environmentOf, RULE_LINE, runProgram, runTurnguard } from "../support/turnguard.ts";
import { processesIn } from "../support/watchdog_home.ts";

const HOST = fromFileUrl(new URL("../support/plugin_host.mjs", import.meta.url));

/** Prefix of a marked prompt, its first three bytes U+2063. */
const GUARD_PREFIX = "\u2063FIRSTMATE_OP: v1 turn-end-guard: ";
const WATCH_PREFIX = "\u2063FIRSTMATE_OP: v1 watcher: ";

interface Step {
  readonly event?: unknown;
  readonly session?: string;
  readonly info?: unknown;
  readonly emit?: string;
  readonly payload?: unknown;
  readonly failing?: boolean;
  readonly coordinator?: unknown;
  readonly arm?: string;
  readonly until?: number;
}

interface Told {
  readonly sent: readonly (readonly string[])[];
  readonly returned?: readonly Readonly<Record<string, unknown>>[];
  readonly status?: string;
}

type Host = "opencode1" | "opencode2" | "pi" | "omp";

/** Runtimes that extensions run in, and how a program is started in each. */
const RUNTIMES: Readonly<Record<string, readonly string[]>> = {
  deno: [Deno.execPath(), "run", "-A", "--no-config", "--no-lock", HOST],
  node: [nodePath() ?? "", HOST],
};

function nodePath(): string | undefined {
  for (const folder of (Deno.env.get("PATH") ?? "").split(":")) {
    if (exists(join(folder, "node"))) return join(folder, "node");
  }
  return undefined;
}

const FILES: Readonly<Record<Host, readonly [harness: string, guard: string, watch: string]>> = {
  opencode1: [
    "opencode",
    ".opencode/plugins/fm-primary-turnend-guard.js",
    ".opencode/plugins/fm-primary-watch-arm.js",
  ],
  opencode2: [
    "opencode",
    ".opencode/plugins/fm-primary-turnend-guard.js",
    ".opencode/plugins/fm-primary-watch-arm.js",
  ],
  pi: [
    "pi",
    ".pi/extensions/fm-primary-turnend-guard.ts",
    ".pi/extensions/fm-primary-pi-watch.ts",
  ],
  omp: [
    "omp",
    ".omp/extensions/fm-primary-turnend-guard.ts",
    ".omp/extensions/fm-primary-omp-watch.ts",
  ],
};

async function install(home: TestHome, host: Host): Promise<void> {
  const { status, stderr } = await runTurnguard(["install", FILES[host][0], ...home.args], {
    stdin: null,
    env: { HOME: home.folder },
  });
  assertEquals([status, stderr], [0, ""]);
}

/** Plays steps in a host of that runtime; `part` is 1 for the guard and 2 for the watch bridge. */
async function play(
  runtime: string,
  home: TestHome,
  host: Host,
  part: 1 | 2,
  steps: readonly Step[],
  options: {
    readonly worktree?: string;
    readonly directory?: string;
    readonly env?: Readonly<Record<string, string>>;
  } = {},
): Promise<readonly Told[]> {
  const file = home.path(FILES[host][part]);
  // Hosts load TypeScript in their own ways; the text is plain JavaScript.
  const module = file.endsWith(".ts") ? file.replace(/\.ts$/, ".mjs") : file;
  if (module !== file) Deno.copyFileSync(file, module);
  const directory = options.directory ?? home.root;
  const words = { module, kind: host, directory, worktree: options.worktree ?? "", steps };
  const { DENO_DIR } = Deno.env.toObject();
  const result = await runProgram([...RUNTIMES[runtime] ?? [], JSON.stringify(words)], {
    stdin: null,
    cwd: home.root,
    env: environmentOf({
      HOME: Deno.env.get("HOME"),
      ...(DENO_DIR === undefined ? {} : { DENO_DIR }),
      ...home.env,
      ...options.env,
    }),
  });
  assertEquals(result.status, 0, result.stderr);
  const told: readonly Told[] = JSON.parse(result.stdout.trim().split("\n").at(-1) ?? "[]");
  return told;
}

/** How many prompts each step has brought. */
function counts(told: readonly Told[]): readonly number[] {
  return told.map(({ sent }) => sent.length);
}

const idle = (id: string | undefined = "S1"): Step => ({
  event: { type: "session.idle", properties: id === "" ? {} : { sessionID: id } },
});
const ended = (sessionID = "S1", type = "session.execution.succeeded"): Step => ({
  event: { type, data: { sessionID } },
});
const started = (sessionID = "S1"): Step => ({
  event: { type: "session.execution.started", data: { sessionID } },
});
const settle: Step = { emit: "agent_settled", payload: { type: "agent_settled" } };

for (const runtime of Object.keys(RUNTIMES)) {
  const ignore = runtime === "node" && nodePath() === undefined;
  if (ignore) console.log("plugins under Node: skipped, there is no node");
  const test = (name: string, fn: () => Promise<void>): void =>
    Deno.test({ name: `plugins (${runtime}): ${name}`, ignore, fn });

  test("OpenCode 1: a blind end gets one follow-up, and the end of that is swallowed", async () => {
    await using home = makeHome().task();
    await install(home, "opencode1");
    const told = await play(runtime, home, "opencode1", 1, [
      { event: { type: "message.updated" } },
      idle(),
      idle(),
      idle(),
    ]);
    assertEquals(counts(told), [0, 1, 0, 1]);
    const [id, text = ""] = told[1]?.sent[0] ?? [];
    assertEquals(id, "S1");
    assert(text.startsWith(`${GUARD_PREFIX}TURN WOULD END BLIND - supervision is off.`));
    assertStringIncludes(text, "watcher cycle is missing, failed, or unhealthy");
    assertStringIncludes(text, `\n\n${RULE_LINE}\n`);
    assert(!text.includes("Resume supervision according to"));
    assert(text.endsWith(`${RULE_LINE}\n`));
  });

  test("OpenCode 1: the latch is looked at before the id, and a failed delivery clears it", async () => {
    await using home = makeHome().task();
    await install(home, "opencode1");
    const told = await play(runtime, home, "opencode1", 1, [
      idle(""),
      idle(),
      idle(""),
      idle(),
      idle(),
      { failing: true },
      idle(),
      { failing: false },
      idle(),
    ]);
    assertEquals(counts(told), [0, 1, 0, 1, 0, 0, 0, 0, 1]);
    const note = textOf(home.path("state/.turnguard-adapter-failure"));
    assertMatch(note, /^[0-9]+\topencode\tthe host takes no prompt\n$/);
  });

  test("OpenCode 1: the watch bridge is asked first, and most of its answers settle nothing", async () => {
    await using home = makeHome().task();
    await install(home, "opencode1");
    const words = [
      "armed",
      "wake",
      "failed",
      "external",
      "timeout",
      "read-only",
      false,
      "existing",
    ];
    const steps = words.flatMap((coordinator): Step[] => [{ coordinator }, idle(), idle()]);
    const told = await play(runtime, home, "opencode1", 1, steps);
    const followed = words.map((_, index) =>
      (told[3 * index + 1]?.sent.length ?? 0) + (told[3 * index + 2]?.sent.length ?? 0)
    );
    assertEquals(followed, [0, 0, 0, 1, 1, 1, 1, 1]);
  });

  test("OpenCode 1: a watched home, one without need and a missing executable are silent", async () => {
    await using watched = makeHome().task();
    await using idleHome = makeHome();
    await using broken = makeHome().task();
    await watched.watcher(0);
    for (const home of [watched, idleHome, broken]) await install(home, "opencode1");
    const module = broken.path(FILES.opencode1[1]);
    const text = textOf(module).replace(/^const TURNGUARD = .*$/m, 'const TURNGUARD = "/nowhere";');
    Deno.writeTextFileSync(module, text);
    for (const home of [watched, idleHome, broken]) {
      assertEquals(counts(await play(runtime, home, "opencode1", 1, [idle()])), [0]);
    }
  });

  test("OpenCode 1: the checkout is found through links and from folders below it", async () => {
    await using home = makeHome({ name: `it's "a" $home é` }).task();
    await install(home, "opencode1");
    const link = join(home.folder, "link");
    Deno.symlinkSync(home.root, link);
    Deno.mkdirSync(home.path("below/deep"), { recursive: true });
    for (
      const place of [
        { worktree: link },
        { worktree: "/", directory: home.root },
        { directory: home.path("below/deep") },
      ]
    ) {
      assertEquals(counts(await play(runtime, home, "opencode1", 1, [idle()], place)), [1]);
    }
  });

  test("OpenCode 2: every end of an execution counts once, children and strangers never", async () => {
    await using home = makeHome().task();
    await install(home, "opencode2");
    const told = await play(runtime, home, "opencode2", 1, [
      { session: "S1", info: { location: { directory: home.root } } },
      { session: "child", info: { parentID: "S1", location: { directory: home.root } } },
      { session: "away", info: { location: { directory: "/elsewhere" } } },
      ended("child"),
      ended("away"),
      ended("nobody"),
      ended("S1"),
      ended("S1"),
      started("S1"),
      ended("S1"),
      started("S1"),
      ended("S1", "session.execution.interrupted"),
      started("child"),
      ended("child"),
    ]);
    assertEquals(counts(told), [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0]);
    assertEquals(told[6]?.sent[0]?.[2], "queue");
    assert(told[6]?.sent[0]?.[1]?.startsWith(GUARD_PREFIX));
  });

  test("OpenCode 2: a failed delivery is noted, and one bad event ends nothing", async () => {
    await using home = makeHome().task();
    await install(home, "opencode2");
    const told = await play(runtime, home, "opencode2", 1, [
      { session: "S1", info: { location: { directory: home.root } } },
      { failing: true },
      ended("S1"),
      { failing: false },
      { event: null },
      started("S1"),
      ended("S1"),
      { event: "break" },
    ]);
    assertEquals(counts(told), [0, 0, 0, 0, 0, 0, 1, 0]);
    assertMatch(textOf(home.path("state/.turnguard-adapter-failure")), /\topencode\t/);
  });

  test("Pi: one follow-up a run, however the host runs into the next end", async () => {
    await using home = makeHome().task();
    await install(home, "pi");
    const told = await play(runtime, home, "pi", 1, [
      { emit: "turn_end" },
      settle,
      settle,
      settle,
      { failing: true },
      settle,
      settle,
      { failing: false },
      settle,
    ]);
    assertEquals(counts(told), [0, 1, 0, 1, 0, 0, 0, 0, 1]);
    const [how, text = ""] = told[1]?.sent[0] ?? [];
    assertEquals(how, "followUp");
    assert(text.startsWith(`${GUARD_PREFIX}TURN WOULD END BLIND`) && text.includes(RULE_LINE));
  });

  test("Pi: the marker names the file's bytes and the process, unless another session is there", async () => {
    await using home = makeHome().task();
    await install(home, "pi");
    const marker = "state/.pi-turnend-extension-loaded";
    await play(runtime, home, "pi", 1, [{ emit: "session_start" }]);
    const [digest = "", pid = ""] = textOf(home.path(marker)).split("\n");
    const bytes = Deno.readFileSync(home.path(FILES.pi[1]));
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
    assertEquals(digest, `sha256:${hash}`);
    assertMatch(pid, /^[0-9]+$/);
    Deno.removeSync(home.path(marker));
    // This test's own process is alive, and above the host.
    for (const [line, writes] of [["1", false], ["x", false], [String(Deno.pid), true]] as const) {
      home.write("state/.lock", `${line}\n`);
      await play(runtime, home, "pi", 1, [{ emit: "session_start" }]);
      assertEquals(exists(home.path(marker)), writes, line);
    }
  });

  test("Pi: the watch extension is active while it is loaded, and a new one follows it", async () => {
    await using home = makeHome().task();
    await install(home, "pi");
    const marker = home.path("state/.pi-watch-extension-loaded");
    await play(runtime, home, "pi", 2, [{ emit: "session_start" }]);
    assertMatch(textOf(marker), /^sha256:[0-9a-f]{64}\n[0-9]+\ngeneration=1 phase=active\n$/);
    await play(runtime, home, "pi", 2, [{ emit: "session_shutdown" }]);
    assertMatch(textOf(marker), /\ngeneration=2 phase=retired\n$/);
  });

  test("omp: a session that would settle blind goes on once, by the host's own word", async () => {
    await using home = makeHome().task();
    await install(home, "omp");
    const stop = (stop_hook_active: unknown): Step => ({
      emit: "session_stop",
      payload: { type: "session_stop", stop_hook_active },
    });
    const told = await play(runtime, home, "omp", 1, [stop(false), stop(true), stop("true"), {
      emit: "session_stop",
    }]);
    assertEquals(told.map(({ returned }) => returned?.length), [1, 0, 1, 1]);
    const [answer] = told[0]?.returned ?? [];
    assertEquals(answer?.["continue"], true);
    assert(String(answer?.["additionalContext"]).startsWith(`${GUARD_PREFIX}TURN WOULD END BLIND`));
    assertEquals(Object.keys(answer ?? {}).toSorted(), ["additionalContext", "continue"]);
    assertEquals(counts(told), [0, 0, 0, 0]);
  });

  test("omp: the marker bears the session's pid, and only in its own processes", async () => {
    await using home = makeHome().task();
    await install(home, "omp");
    const marker = home.path("state/.omp-turnend-extension-loaded");
    for (const [line, writes] of [["", false], ["1", false], [String(Deno.pid), true]] as const) {
      home.write("state/.lock", `${line}\n`);
      await play(runtime, home, "omp", 1, [{ emit: "session_start" }]);
      assertEquals(exists(marker), writes, line);
    }
    assertEquals(textOf(marker).split("\n")[1], String(Deno.pid));
  });

  for (
    const [host, key] of [["opencode1", "__firstmateOpenCodeWatchArm"], [
      "pi",
      "__turnguardPiWatch",
    ], [
      "omp",
      "__turnguardOmpWatch",
    ]] as const
  ) {
    test(`${host}: a home is watched, its wake told once, and watched again`, async () => {
      await using home = makeHome().task();
      await install(home, host);
      const playing = play(runtime, home, host, 2, [
        { arm: key },
        { arm: key },
        { until: 1 },
        { arm: key },
      ], { env: { FM_POLL: "1", FM_SIGNAL_GRACE: "0" } });
      await until(() => exists(home.path("state/.last-watcher-beat")), 30_000);
      home.write("state/task.status", "done: all of it\n");
      const told = await playing;
      assertEquals(told.map(({ status }) => status), ["armed", "armed", undefined, "armed"]);
      const texts = told.flatMap(({ sent }) => sent.map(([, text = ""]) => text));
      assertEquals(texts.length, 1);
      assertMatch(texts[0] ?? "", /^\u2063FIRSTMATE_OP: v1 watcher: signal: /);
      assertStringIncludes(texts[0] ?? "", "wake drain");
      assert(texts[0]?.startsWith(WATCH_PREFIX));
      // The host's end leaves its arm for the next session's; this test ends it.
      for (const pid of processesIn(home.root)) Deno.kill(pid, "SIGTERM");
      await until(() => processesIn(home.root).length === 0, 30_000);
    });
  }

  test("a bridge in a home without need, or of another session, arms nothing", async () => {
    await using calm = makeHome();
    await using foreign = makeHome().task();
    await install(calm, "pi");
    await install(foreign, "pi");
    foreign.write("state/.lock", "1\n");
    for (const [home, status] of [[calm, "not-needed"], [foreign, "read-only"]] as const) {
      const told = await play(runtime, home, "pi", 2, [{ arm: "__turnguardPiWatch" }]);
      assertEquals(told[0]?.status, status);
      assertEquals(processesIn(home.root), []);
    }
  });
}
