/**
 * The turn-end guard's scenarios, each in a home of its own and with real processes.
 *
 * A scenario runs in default mode and with `--cursor`, which differ only in who may call. Numbers in
 * the names are those of the written scenarios.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { makeHome, type TestHome } from "../support/home.ts";
import { deadPid, identityOf } from "../support/processes.ts";
import { snapshot } from "../support/snapshot.ts";
import {
  bannerText,
  FIRST_STOP,
  repairLineOf,
  type RunOptions,
  type RunResult,
  runTurnguard,
  tabulate,
  verdictOf,
} from "../support/turnguard.ts";

const CONTINUATION = '{"stop_hook_active":true,"session_id":"S1"}';
const CLAUDE_REPAIR =
  "watcher supervision needs Stop-owned automatic recovery; inspect the hook registration and " +
  "startup status before ending the turn.";

const DEFAULT_MODE = ["stop"];
const CURSOR_MODE = ["stop", "--cursor"];
const BOTH_MODES = [DEFAULT_MODE, CURSOR_MODE];

/** What happens in one scenario. */
interface Scenario {
  readonly expect: "allow" | "block";
  /** Calls; both modes when absent. */
  readonly modes?: readonly (readonly string[])[];
  readonly home?: () => TestHome;
  readonly arrange?: (home: TestHome) => unknown;
  readonly stdin?: RunOptions["stdin"];
  readonly env?: (home: TestHome) => Readonly<Record<string, string>>;
  /** Text that a banner must hold. */
  readonly says?: string;
  readonly check?: (result: RunResult, home: TestHome) => void;
}

function scenario(name: string, scenario: Scenario): void {
  Deno.test(`stop: ${name}`, async () => {
    await using home = (scenario.home ?? makeHome)();
    await scenario.arrange?.(home);
    const before = snapshot(home.folder);
    const modes = scenario.modes ?? BOTH_MODES;
    const results = await Promise.all(modes.map((mode) =>
      runTurnguard([...mode, ...home.args], {
        stdin: scenario.stdin ?? FIRST_STOP,
        env: { ...home.env, ...scenario.env?.(home) },
      })
    ));
    for (const [index, result] of results.entries()) {
      const mode = modes[index] ?? [];
      assertEquals(verdictOf(result), scenario.expect, mode.join(" "));
      if (scenario.says !== undefined) assertStringIncludes(result.stderr, scenario.says);
      scenario.check?.(result, home);
    }
    assertEquals(snapshot(home.folder), before);
  });
}

const withTask = (): TestHome => makeHome().task();

scenario("a home without need is left alone (1)", { expect: "allow" });

scenario("a task without a watcher blocks with the five lines of the banner (2)", {
  expect: "block",
  modes: [DEFAULT_MODE],
  home: withTask,
  env: () => ({ CLAUDECODE: "1" }),
  check: ({ stderr }) =>
    assertEquals(stderr, bannerText("1 task(s) in flight", "never", CLAUDE_REPAIR)),
});

scenario("with --cursor the same block names the park (2)", {
  expect: "block",
  modes: [CURSOR_MODE],
  home: withTask,
  env: () => ({ CLAUDECODE: "1" }),
  check: (result) => {
    assertStringIncludes(repairLineOf(result), "stop-hook park");
    const repair = repairLineOf(result).replace(/^● {2}/, "");
    assertEquals(result.stderr, bannerText("1 task(s) in flight", "never", repair));
  },
});

scenario("a stop after a forced continuation is allowed (3)", {
  expect: "allow",
  home: withTask,
  stdin: CONTINUATION,
});

scenario("a payload without the loop-guard field is a first stop (4)", {
  expect: "block",
  home: withTask,
  stdin: "{}",
});

const SILENT_PAYLOADS: ReadonlyArray<readonly [string, string]> = [
  ["empty input (5)", ""],
  ["newlines only (6)", "\n\n"],
  ["blanks only (7)", "   "],
  ["tabs and blanks only (7)", " \t \r\n"],
  ["an unfinished object (8)", "{"],
  ["a truncated object (8)", '{"stop_hook_active":fal'],
  ["a trailing comma (8)", '{"stop_hook_active":false,}'],
  ["single quotes (8)", "{'stop_hook_active':false}"],
  ["a comment (8)", '/* x */ {"stop_hook_active":false}'],
  ["an array (8)", "[]"],
  ["null (8)", "null"],
  ["a number (8)", "1"],
  ["a string (8)", '"x"'],
  ["true (8)", "true"],
  ["a loop guard of null (8)", '{"stop_hook_active":null}'],
  ["a loop guard that is a string (8)", '{"stop_hook_active":"true"}'],
  ["a loop guard that is a number (8)", '{"stop_hook_active":1}'],
  ["a loop guard that is an array (8)", '{"stop_hook_active":[]}'],
  ["camel case true over snake case false (9)", '{"stopHookActive":true,"stop_hook_active":false}'],
  [
    "a wrong camel case over snake case false (11)",
    '{"stopHookActive":"x","stop_hook_active":false}',
  ],
  [
    "a camel case null over snake case false (11)",
    '{"stopHookActive":null,"stop_hook_active":false}',
  ],
  ["a repeated key whose last value is wrong", '{"stop_hook_active":false,"stop_hook_active":"x"}'],
  ["an object and more (13)", '{"stop_hook_active":false} x'],
  ["two objects", '{"stop_hook_active":false}\n{"stop_hook_active":false}'],
  ["a number that JSON does not have", '{"stop_hook_active":false,"n":NaN}'],
  ["a NUL between values", '{"stop_hook_active":\0false}'],
];

for (const [what, stdin] of SILENT_PAYLOADS) {
  scenario(`${what} allows in silence`, { expect: "allow", home: withTask, stdin });
}

scenario("camel case false over snake case true is a first stop (10)", {
  expect: "block",
  home: withTask,
  stdin: '{"stopHookActive":false,"stop_hook_active":true}',
});

scenario("of a repeated key the last value counts (12)", {
  expect: "block",
  home: withTask,
  stdin: '{"stop_hook_active":"bad","stop_hook_active":false}',
});

scenario("a byte-order mark before the object is dropped (14)", {
  expect: "block",
  home: withTask,
  stdin: `\ufeff${FIRST_STOP}`,
});

scenario("invalid UTF-8 inside a text does not matter (15)", {
  expect: "block",
  home: withTask,
  stdin: joined('{"stop_hook_active":false,"last_assistant_message":"', [0xff, 0xc3, 0x28], '"}'),
});

scenario("invalid UTF-8 outside a text is not JSON", {
  expect: "allow",
  home: withTask,
  stdin: joined('{"stop_hook_active":', [0xff], "false}"),
});

scenario("a text of 32 MiB is read like any other (16)", {
  expect: "block",
  modes: [DEFAULT_MODE],
  home: withTask,
  stdin: `{"stop_hook_active":false,"last_assistant_message":"${"x".repeat(32 << 20)}"}`,
});

scenario("a live watcher of this home with a fresh beat allows (17)", {
  expect: "allow",
  home: withTask,
  arrange: (home) => home.watcher(5),
});

scenario("a watch lock that is a plain folder counts as well (17)", {
  expect: "allow",
  home: withTask,
  arrange: (home) => home.watcher(5, { layout: "directory" }),
});

scenario("a watcher whose beat is long past blocks and tells the age (18)", {
  expect: "block",
  home: withTask,
  arrange: (home) => home.watcher(10_000),
  check: ({ stderr }) => {
    const age = Number(/\(last beat: ([0-9]+)s ago\)/.exec(stderr)?.[1]);
    // A slow machine may take its time between the beat and the look at it.
    assert(age >= 10_000 && age < 10_060, stderr);
  },
});

scenario("a beat alone proves nothing (19)", {
  expect: "block",
  home: withTask,
  arrange: (home) => home.beat(5),
  says: "s ago).",
});

scenario("a lock that names a dead process proves nothing (20)", {
  expect: "block",
  home: withTask,
  arrange: async (home) => {
    const { pid } = await home.watcher(5, { layout: "directory" });
    home.write("state/.watch.lock/pid", `${await deadPid()}\n`);
    assert(pid > 0);
  },
});

scenario("the identity of another process is a reused pid (21)", {
  expect: "block",
  home: withTask,
  arrange: async (home) => {
    await home.watcher(5, { identity: await identityOf(Deno.pid) });
  },
});

scenario("the watcher of another home does not count (22)", {
  expect: "block",
  home: withTask,
  arrange: (home) => home.watcher(5, { home: `${home.root}-2` }),
});

scenario("a home recorded with a slash at its end is another text (22)", {
  expect: "block",
  home: withTask,
  arrange: (home) => home.watcher(5, { home: `${home.root}/` }),
});

scenario("a watcher under another path does not count (23)", {
  expect: "block",
  home: withTask,
  arrange: (home) => home.watcher(5, { watcherPath: `${home.folder}/bin/fm-watch.sh` }),
});

Deno.test("stop: a beat is fresh at 299 s and stale at 300 s (24)", async () => {
  await using home = withTask();
  await home.watcher(5);
  const verdictAt = (age: number) =>
    withinOneSecond(async (now) => {
      home.beatAt(now - age);
      return verdictOf(
        await runTurnguard([...DEFAULT_MODE, ...home.args], {
          stdin: FIRST_STOP,
          env: home.env,
        }),
      );
    });
  assertEquals(await verdictAt(299), "allow");
  assertEquals(await verdictAt(300), "block");
});

scenario("the poll does not widen the strict check (25)", {
  expect: "block",
  home: withTask,
  arrange: (home) => home.watcher(400),
  env: () => ({ FM_POLL: "600" }),
});

scenario("FM_GUARD_GRACE does widen it (26)", {
  expect: "allow",
  home: withTask,
  arrange: (home) => home.watcher(400),
  env: () => ({ FM_GUARD_GRACE: "500" }),
});

async function awayDaemon(home: TestHome, beatAge: number): Promise<void> {
  home.away().beat(beatAge);
  await home.daemon();
}

scenario("the daemon of away mode supervises without a watch lock (27)", {
  expect: "allow",
  home: withTask,
  arrange: (home) => awayDaemon(home, 200),
});

scenario("the daemon of quiet mode supervises as well (27)", {
  expect: "allow",
  home: withTask,
  arrange: async (home) => {
    await awayDaemon(home, 200);
    home.away("quiet\n");
  },
});

scenario("the daemon's grace follows the poll (28)", {
  expect: "allow",
  home: withTask,
  arrange: (home) => awayDaemon(home, 400),
  env: () => ({ FM_POLL: "600" }),
});

scenario("FM_GUARD_GRACE replaces the daemon's grace (28)", {
  expect: "block",
  home: withTask,
  arrange: (home) => awayDaemon(home, 400),
  env: () => ({ FM_POLL: "600", FM_GUARD_GRACE: "300" }),
});

scenario("beyond the daemon's grace away mode is asked to repair (29)", {
  expect: "block",
  home: withTask,
  arrange: (home) => awayDaemon(home, 700),
  env: () => ({ FM_POLL: "600", CLAUDECODE: "1" }),
  check: (result) =>
    assertMatch(repairLineOf(result), /^● {2}Away mode owns watcher supervision; /),
});

const DAEMON_FAULTS: ReadonlyArray<readonly [string, (home: TestHome) => Promise<unknown>]> = [
  ["a dead daemon", async (home) => {
    await home.recordDaemon((home.sleeper()).pid, { pid: `${await deadPid()}\n` });
  }],
  ["a reused pid of the daemon", async (home) => {
    await home.daemon({ identity: await identityOf(Deno.pid) });
  }],
  ["a daemon without an identity", (home) => home.daemon({ identity: null })],
  ["a daemon with an empty identity", (home) => home.daemon({ identity: "\n" })],
  ["no daemon at all", () => Promise.resolve()],
];

for (const [what, daemon] of DAEMON_FAULTS) {
  scenario(`${what} does not supervise in away mode (30)`, {
    expect: "block",
    home: withTask,
    arrange: async (home) => {
      home.away().beat(200);
      await daemon(home);
    },
    says: "●  Away mode owns watcher supervision; load /afk",
  });
}

scenario("a live daemon without the away flag does not supervise (30)", {
  expect: "block",
  home: withTask,
  arrange: async (home) => {
    home.beat(200);
    await home.daemon();
  },
});

scenario("in quiet mode without a daemon the repair line says so (31)", {
  expect: "block",
  home: withTask,
  arrange: (home) => home.away("quiet\n").beat(200),
  says: "●  Quiet mode owns watcher supervision; load /quiet",
});

for (const line of ["quiet ", "quiet\r", "Quiet", "1764544140", ""]) {
  scenario(`an away flag whose first line is ${JSON.stringify(line)} is away mode (31)`, {
    expect: "block",
    home: withTask,
    arrange: (home) => home.away(`${line}\nquiet\n`),
    says: "●  Away mode owns",
  });
}

scenario("a process-event source is a need (32)", {
  expect: "block",
  arrange: (home) => home.source(),
  says: "●  1 process-event source(s) registered, but",
});

scenario("the relay is a need (33)", {
  expect: "block",
  arrange: (home) => home.relay(),
  says: "●  X-mode relay polling needs supervision, but",
});

scenario("a relay script that is trusted as a check is still only the relay (33)", {
  expect: "block",
  arrange: (home) => home.relay().write("state/x-watch.check-trust"),
  says: "●  X-mode relay polling needs supervision, but",
});

scenario("a registered check is a need (34)", {
  expect: "block",
  arrange: (home) => home.check("c1"),
  says: "●  1 registered custom check(s), but",
});

scenario("a check without its trust file is none (34b)", {
  expect: "allow",
  arrange: (home) => home.check("c1", "untrusted"),
});

scenario("X-mode settings come before the repair (35)", {
  expect: "block",
  modes: [DEFAULT_MODE],
  home: withTask,
  arrange: (home) => home.write("config/x-mode.env", "export FM_CHECK_INTERVAL=30\n"),
  env: () => ({ CLAUDECODE: "1" }),
  check: (result, home) =>
    assertEquals(
      repairLineOf(result),
      `●  source '${home.root}/config/x-mode.env' first, then ${CLAUDE_REPAIR}`,
    ),
});

Deno.test("stop: FM_HOME wins over the working directory (36)", async () => {
  await using busy = withTask();
  await using idle = makeHome();
  const result = await runTurnguard(DEFAULT_MODE, {
    stdin: FIRST_STOP,
    cwd: busy.root,
    env: { FM_HOME: idle.root },
  });
  assertEquals(verdictOf(result), "allow");
});

Deno.test("stop: without --root the working directory is the root (36)", async () => {
  await using home = withTask();
  const result = await runTurnguard(DEFAULT_MODE, { stdin: FIRST_STOP, cwd: home.root });
  assertEquals(verdictOf(result), "block");
});

scenario("FM_STATE_OVERRIDE wins over FM_HOME (37)", {
  expect: "block",
  arrange: (home) => home.write("elsewhere/x.meta"),
  env: (home) => ({ FM_STATE_OVERRIDE: home.path("elsewhere") }),
});

scenario("FM_CONFIG_OVERRIDE moves the X-mode settings", {
  expect: "block",
  home: withTask,
  arrange: (home) => home.write("settings/x-mode.env"),
  env: (home) => ({ FM_CONFIG_OVERRIDE: home.path("settings") }),
  check: (result, home) =>
    assertStringIncludes(repairLineOf(result), `source '${home.root}/settings/x-mode.env' first`),
});

scenario("a linked worktree is exempt (38)", {
  expect: "allow",
  home: () => makeHome({ git: "linked-worktree" }).task(),
});

scenario("a linked worktree with a marker is a home (39)", {
  expect: "block",
  home: () => makeHome({ git: "linked-worktree" }).task().marker(),
});

const MARKERS: ReadonlyArray<readonly [text: string, expect: "allow" | "block"]> = [
  ["", "allow"],
  ["\n", "allow"],
  ["sm-1", "allow"],
  ["caf\u00e9\n", "allow"],
  ["sm/1\n", "allow"],
  ["a b\n", "block"],
  ["sm\r\n", "block"],
];

for (const [text, expect] of MARKERS) {
  scenario(`a marker of ${JSON.stringify(text)} in a linked worktree ${expect}s (40)`, {
    expect,
    home: () => makeHome({ git: "linked-worktree" }).task().marker(text),
  });
}

scenario("a marker that is a link is none (40)", {
  expect: "allow",
  home: () => makeHome({ git: "linked-worktree" }).task(),
  arrange: (home) => {
    home.write("marker", "sm-1\n");
    Deno.symlinkSync(home.path("marker"), home.path(".fm-secondmate-home"));
  },
});

scenario("a folder that is no checkout is out of scope (41)", {
  expect: "allow",
  home: () => makeHome({ git: "none" }).task(),
});

for (const part of ["AGENTS.md", "bin", "state"]) {
  scenario(`a root without ${part} is no home (42)`, {
    expect: "allow",
    home: withTask,
    arrange: (home) => home.remove(part),
  });
}

scenario("a payload made by Cursor is not for default mode (43)", {
  expect: "allow",
  modes: [DEFAULT_MODE],
  home: withTask,
  stdin: '{"cursor_version":"x"}',
});

scenario("with --cursor the same payload is judged (43)", {
  expect: "block",
  modes: [CURSOR_MODE],
  home: withTask,
  stdin: '{"cursor_version":"x"}',
});

for (const version of ["7", "null", '{"v":"x"}']) {
  scenario(`a cursor_version of ${version} is not Cursor's (44)`, {
    expect: "block",
    home: withTask,
    stdin: `{"cursor_version":${version}}`,
  });
}

scenario("Cursor's variables do not tell the host (45)", {
  expect: "block",
  home: withTask,
  env: () => ({ CURSOR_VERSION: "1", CURSOR_PROJECT_DIR: "/" }),
});

scenario("Grok's variables do not silence default mode (46)", {
  expect: "block",
  home: withTask,
  env: () => ({ GROK_HOOK_EVENT: "stop", GROK_AGENT: "1", GROK_SESSION_ID: "g" }),
});

const HOST_PAYLOADS = [
  '{"session_id":"S1","turn_id":"t","hook_event_name":"Stop","stop_hook_active":false}',
  '{"sessionId":"S1","stopHookActive":false}',
  '{"stop_hook_active":false}',
  '{"hook_event_name":"Stop","stop_hook_active":false}',
];

for (const stdin of HOST_PAYLOADS) {
  scenario(`the files and locks of Claude cooperation are nothing to it, given ${stdin} (48)`, {
    expect: "allow",
    home: withTask,
    stdin,
    arrange: async (home) => {
      const holder = await home.watcher(5);
      home.write("state/.turnend-claude-blocks", "S1 2\n")
        .write("state/.claude-autoarm-failure-notified", "1\n")
        .write("state/.claude-autoarm-failure-alarmed", "1\n")
        .write("state/.turnend-claude-blocks.lock/pid", `${holder.pid}\n`)
        .write("state/.lock", `${holder.pid}\n`);
    },
  });
}

for (const args of [["--foo"], ["--cursor", "--foo"], ["extra"], ["--root"]]) {
  Deno.test(`stop: the unknown call ${args.join(" ")} is a usage error before any reading (49)`, async () => {
    await using home = withTask();
    const before = snapshot(home.folder);
    const result = await runTurnguard(["stop", ...args], {
      stdin: { open: "" },
      cwd: home.root,
      env: home.env,
    });
    assertEquals(result.status, 1, result.stderr);
    assertEquals(result.stdout, "");
    assertMatch(result.stderr, /^[^\n]+\n$/);
    assertEquals(snapshot(home.folder), before);
  });
}

scenario("a secondmate's busy record belongs to Claude mode alone (67)", {
  expect: "block",
  modes: [DEFAULT_MODE],
  home: () => makeHome({ git: "linked-worktree" }).task().marker(),
  arrange: (home) => {
    const parent = join(home.folder, "parent");
    Deno.mkdirSync(parent);
    Deno.writeTextFileSync(join(parent, "sm-1.busy-gen"), "g1\n");
    Deno.writeTextFileSync(
      join(parent, "sm-1.busy-state"),
      "v1 gen=g1 seq=4 state=busy source=prompt event=submit ts=1764544140\n",
    );
    home.write(".fm-busy-stop", `state=${parent}\nid=sm-1\ngen=g1\n`);
  },
});

const GRACES: ReadonlyArray<readonly [text: string, expect: "allow" | "block", says?: string]> = [
  ["abc", "allow"],
  ["300.5", "allow"],
  ["3e2", "allow"],
  ["0", "block"],
  ["-1", "block"],
  ["", "allow"],
  [" 300 ", "allow"],
  ["+300", "allow"],
  ["0300", "allow"],
];

for (const [text, expect] of GRACES) {
  scenario(`with a grace of ${JSON.stringify(text)} a beat 5 s ago ${expect}s (69)`, {
    expect,
    home: withTask,
    arrange: (home) => home.watcher(5),
    env: () => ({ FM_GUARD_GRACE: text }),
  });
}

scenario("a malformed number is told in a sixth line (69)", {
  expect: "block",
  modes: [DEFAULT_MODE],
  home: withTask,
  env: () => ({ FM_GUARD_GRACE: "abc", CLAUDECODE: "1" }),
  check: ({ stderr }) => {
    const lines = stderr.split("\n");
    assertEquals(lines.length, 7, stderr);
    const notice = (lines[3] ?? "").replace(/^● {2}/, "");
    assertMatch(notice, /FM_GUARD_GRACE.*abc.*300/);
    assertEquals(stderr, bannerText("1 task(s) in flight", "never", CLAUDE_REPAIR, [notice]));
  },
});

scenario("a beat 60 s in the future is fresh (70)", {
  expect: "allow",
  home: withTask,
  arrange: (home) => home.watcher(-60),
});

scenario("a beat an hour in the future is a broken clock (70)", {
  expect: "block",
  home: withTask,
  arrange: (home) => home.watcher(-3600),
  says: "(last beat: -3",
});

scenario("of several needs only the first kind is named (71)", {
  expect: "block",
  arrange: (home) => home.task().source().check().relay(),
  says: "●  1 task(s) in flight, but",
});

scenario("without tasks the sources are named (71)", {
  expect: "block",
  arrange: (home) => home.source("a").source("b").check().relay(),
  says: "●  2 process-event source(s) registered, but",
});

scenario("without tasks and sources the checks are named (71)", {
  expect: "block",
  arrange: (home) => home.check("c1").check("c2").relay(),
  says: "●  2 registered custom check(s), but",
});

scenario("hidden records and links that lead nowhere are no tasks (72)", {
  expect: "block",
  arrange: (home) => {
    home.task("a").task("b").task(".hidden");
    Deno.symlinkSync("nowhere", home.path("state/gone.meta"));
  },
  says: "●  2 task(s) in flight, but",
});

scenario("hidden records alone are no need (72)", {
  expect: "allow",
  arrange: (home) => {
    home.task(".hidden").source(".a").check(".c");
    Deno.symlinkSync("nowhere", home.path("state/gone.meta"));
  },
});

scenario("a folder and a link to a file count like a file (72)", {
  expect: "block",
  arrange: (home) => {
    Deno.mkdirSync(home.path("state/a.meta"));
    Deno.symlinkSync(home.path("AGENTS.md"), home.path("state/b.meta"));
  },
  says: "●  2 task(s) in flight, but",
});

/** Payload, loop guard, scope, need, watcher, daemon, and what comes of it. */
const TRUTH: ReadonlyArray<readonly [...pattern: string[], expect: "allow" | "block"]> = [
  ["unreadable", "*", "*", "*", "*", "*", "allow"],
  ["foreign", "*", "*", "*", "*", "*", "allow"],
  ["readable", "true", "*", "*", "*", "*", "allow"],
  ["readable", "false", "no", "*", "*", "*", "allow"],
  ["readable", "false", "yes", "no", "*", "*", "allow"],
  ["readable", "false", "yes", "yes", "yes", "*", "allow"],
  ["readable", "false", "yes", "yes", "no", "yes", "allow"],
  ["readable", "false", "yes", "yes", "no", "no", "block"],
];

for (const mode of BOTH_MODES) {
  Deno.test(`${mode.join(" ")}: every combination of facts gets the verdict of the truth table`, async () => {
    const rows = combinations(["yes", "no"], 4).flatMap((facts) =>
      PAYLOADS.map((payload): readonly string[] => [...payload, ...facts])
    ).filter(([payload, active]) =>
      // Only who may call differs with --cursor; the rest is shown once.
      mode === DEFAULT_MODE || (payload !== "unreadable" && active === "false")
    );
    const nameOf = (row: readonly string[]): string => row.join(" ");
    const actual = await tabulate(rows, nameOf, async (row) => {
      const [payload = "", active = "", ...facts] = row;
      await using home = await homeWith(facts);
      return verdictOf(
        await runTurnguard([...mode, ...home.args], {
          stdin: payloadText(payload, active),
          env: home.env,
        }),
      );
    });
    const expected = rows.map((row) => {
      const foreign = row[0] === "foreign" && mode === CURSOR_MODE;
      return [nameOf(row), truth(foreign ? ["readable", ...row.slice(1)] : row)];
    });
    assertEquals(actual, Object.fromEntries(expected));
    assertEquals(rows.length, mode === DEFAULT_MODE ? 80 : 32);
  });
}

async function homeWith(facts: readonly string[]): Promise<TestHome> {
  const [scope, need, watcher, daemon] = facts;
  const home = makeHome({ git: scope === "yes" ? "primary" : "linked-worktree" }).beat(5);
  if (need === "yes") home.task();
  if (watcher === "yes") await home.watcher(5);
  if (daemon === "yes") await awayDaemon(home, 5);
  return home;
}

const PAYLOADS = [
  ["unreadable", "false"],
  ["foreign", "true"],
  ["foreign", "false"],
  ["readable", "true"],
  ["readable", "false"],
] as const;

function payloadText(payload: string, active: string): string {
  if (payload === "unreadable") return '{"stop_hook_active":fal';
  const host = payload === "foreign" ? '"cursor_version":"2026.08",' : "";
  return `{${host}"stop_hook_active":${active}}`;
}

function truth(facts: readonly string[]): string {
  const row = TRUTH.find((row) =>
    facts.every((fact, index) => row[index] === "*" || row[index] === fact)
  );
  return row?.at(-1) ?? "no row";
}

function combinations(values: readonly string[], length: number): readonly string[][] {
  if (length === 0) return [[]];
  return values.flatMap((value) =>
    combinations(values, length - 1).map((rest) => [value, ...rest])
  );
}

/** Whether the watch lock proves a watcher, row by row; the beat is fresh unless a row says otherwise. */
const WATCHERS: ReadonlyArray<
  readonly [what: string, expect: "allow" | "block", arrange: (home: TestHome) => unknown]
> = [
  ["alive and matching, fresh", "allow", (home) => home.watcher(5)],
  ["alive and matching, stale", "block", (home) => home.watcher(900)],
  ["alive and matching, no beat", "block", async (home) => {
    await home.watcher(5);
    home.remove("state/.last-watcher-beat");
  }],
  [
    "alive, another identity",
    "block",
    async (home) => await home.watcher(5, { identity: await identityOf(Deno.pid) }),
  ],
  ["alive, empty identity", "block", (home) => home.watcher(5, { identity: "" })],
  ["alive, identity not recorded", "block", (home) => home.watcher(5, { identity: null })],
  ["alive, identity with a second line", "block", async (home) => {
    const { pid } = await home.watcher(5, { layout: "directory" });
    home.write("state/.watch.lock/pid-identity", `${await identityOf(pid)}\nmore\n`);
  }],
  ["alive, another home", "block", (home) => home.watcher(5, { home: "/other" })],
  ["alive, another path", "block", (home) => home.watcher(5, { watcherPath: "/other" })],
  ["dead", "block", async (home) => await home.watcher(5, { pid: `${await deadPid()}\n` })],
  ["pid not digits", "block", (home) => home.watcher(5, { pid: "x\n" })],
  ["pid 0", "block", (home) => home.watcher(5, { pid: "0\n" })],
  ["pid -1", "block", (home) => home.watcher(5, { pid: "-1\n" })],
  ["pid larger than any", "block", (home) => home.watcher(5, { pid: "4294967297\n" })],
  ["pid empty", "block", (home) => home.watcher(5, { pid: "\n" })],
  ["pid of two lines", "block", async (home) => {
    const { pid } = await home.watcher(5, { layout: "directory" });
    home.write("state/.watch.lock/pid", `${pid}\n${pid}\n`);
  }],
  ["pid with a blank", "block", async (home) => {
    const { pid } = await home.watcher(5, { layout: "directory" });
    home.write("state/.watch.lock/pid", ` ${pid}\n`);
  }],
  ["pid without a newline", "allow", async (home) => {
    const { pid } = await home.watcher(5, { layout: "directory" });
    home.write("state/.watch.lock/pid", `${pid}`);
  }],
  ["pid with newlines after it", "allow", async (home) => {
    const { pid } = await home.watcher(5, { layout: "directory" });
    home.write("state/.watch.lock/pid", `${pid}\n\n\n`);
  }],
  ["no lock", "block", (home) => home.beat(5)],
  ["lock without pid", "block", async (home) => {
    await home.watcher(5, { layout: "directory" });
    home.remove("state/.watch.lock/pid");
  }],
  ["lock is a regular file", "block", (home) => home.beat(5).write("state/.watch.lock", "1\n")],
  ["lock is a link to nothing", "block", (home) => {
    home.beat(5);
    Deno.symlinkSync("nowhere", home.path("state/.watch.lock"));
  }],
  ["stopped by a signal", "allow", async (home) => {
    const { pid } = await home.watcher(5);
    Deno.kill(pid, "SIGSTOP");
  }],
];

for (const [what, expect, arrange] of WATCHERS) {
  scenario(`a watch lock that is ${what} ${expect}s`, { expect, home: withTask, arrange });
}

/** A line of text around raw bytes. */
function joined(before: string, bytes: readonly number[], after: string): Uint8Array {
  const encoder = new TextEncoder();
  return Uint8Array.from([...encoder.encode(before), ...bytes, ...encoder.encode(after)]);
}

/**
 * Repeats `work` until it began and ended in the same second, so that an age in whole seconds is
 * exact.
 */
async function withinOneSecond<T>(work: (nowSeconds: number) => Promise<T>): Promise<T> {
  const second = () => Math.floor(Date.now() / 1000);
  for (let attempt = 0; attempt < 50; attempt++) {
    const start = second();
    const result = await work(start);
    if (second() === start) return result;
  }
  throw new Error("no run fitted into one second");
}
